"""Tests of the extractor, and of the shipped edge list against README.md. Run: python3 -m unittest"""

import gzip
import io
import lzma
import pathlib
import subprocess
import sys
import tempfile
import unittest

import extract

HERE = pathlib.Path(__file__).parent

INDEX = """\
Package: mailer
Version: 1.0-1
Depends: libc6 (>= 2.36), exim4 | mail-transport-agent, libc6 (<< 3)
Recommends: python3:any (>= 3.11~)
Conflicts: other-mailer
Description: a comma, a | bar
 Depends: not-a-field

package: editor
PRE-DEPENDS: dpkg (>= 1.15.6~)
Suggests: spell-en,
 spell-de | spell-fr
Enhances: mailer

Package: lonely
"""

EDGES = {
    ("mailer", "libc6", "depends"),
    ("mailer", "exim4", "depends"),
    ("mailer", "mail-transport-agent", "depends"),
    ("mailer", "python3", "recommends"),
    ("editor", "dpkg", "pre-depends"),
    ("editor", "spell-en", "suggests"),
    ("editor", "spell-de", "suggests"),
    ("editor", "spell-fr", "suggests"),
}

TSV = """\
source\ttarget\tkind
editor\tdpkg\tpre-depends
editor\tspell-de\tsuggests
editor\tspell-en\tsuggests
editor\tspell-fr\tsuggests
mailer\texim4\tdepends
mailer\tlibc6\tdepends
mailer\tmail-transport-agent\tdepends
mailer\tpython3\trecommends
"""


def run(*args, stdin=b""):
    """Runs extract.py as a program."""
    return subprocess.run([sys.executable, HERE / "extract.py", *args], input=stdin, capture_output=True, check=False)


class Targets(unittest.TestCase):
    def names(self, relations):
        return list(extract.targets(relations))

    def test_versions_and_qualifiers_are_dropped(self):
        names = self.names("libc6 (>= 2.36), perl:any, g++-12:amd64 (= 12.2.0-14)")
        self.assertEqual(names, ["libc6", "perl", "g++-12"])

    def test_each_alternative_counts(self):
        self.assertEqual(self.names("a1 | b2 (<< 3)|c3, d4"), ["a1", "b2", "c3", "d4"])

    def test_empty_items_are_skipped(self):
        self.assertEqual(self.names(""), [])
        self.assertEqual(self.names(" libc6, ,"), ["libc6"])

    def test_what_is_no_relation_is_an_error(self):
        for relations in ["libc6 (>= 2.36", "two names", "${shlibs:Depends}", "libc6 [amd64]"]:
            with self.subTest(relations), self.assertRaisesRegex(ValueError, "not a package relation"):
                self.names(relations)


class Edges(unittest.TestCase):
    def test_index(self):
        packages, found = extract.edges(io.StringIO(INDEX))
        self.assertEqual(packages, {"mailer", "editor", "lonely"})
        self.assertEqual(found, EDGES)

    def test_same_edge_in_two_kinds_is_two_edges(self):
        _, found = extract.edges(io.StringIO("Package: aa\nDepends: bb, bb\nSuggests: bb\n"))
        self.assertEqual(found, {("aa", "bb", "depends"), ("aa", "bb", "suggests")})

    def test_two_versions_of_a_package_are_one_vertex(self):
        packages, found = extract.edges(io.StringIO("Package: aa\nDepends: b1\n\nPackage: aa\nDepends: b1, b2\n"))
        self.assertEqual(packages, {"aa"})
        self.assertEqual(found, {("aa", "b1", "depends"), ("aa", "b2", "depends")})

    def test_stanza_without_package_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "without a Package field"):
            extract.edges(io.StringIO("Depends: libc6\n"))

    def test_line_that_is_no_field_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "line 2 is neither"):
            extract.edges(io.StringIO("Package: aa\n<html>\n"))


class Program(unittest.TestCase):
    def test_plain_and_compressed_indices_read_alike(self):
        for name, data in [
            ("plain", INDEX.encode()),
            ("gzip", gzip.compress(INDEX.encode())),
            ("xz", lzma.compress(INDEX.encode())),
        ]:
            with self.subTest(name):
                result = run(stdin=data)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout.decode(), TSV)
                self.assertIn("3 packages, 1 of them without an edge", result.stderr.decode())

    def test_two_indices_are_united(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = pathlib.Path(folder, "first"), pathlib.Path(folder, "second")
            first.write_text(INDEX)
            second.write_text("Package: editor\nDepends: libc6\nPre-Depends: dpkg\n")
            result = run(first, second)
        lines = result.stdout.decode().splitlines()
        self.assertEqual(len(lines), 1 + len(EDGES) + 1)
        self.assertIn("editor\tlibc6\tdepends", lines)

    def test_compressed_output_is_reproducible(self):
        with tempfile.TemporaryDirectory() as folder:
            outputs = [pathlib.Path(folder, name) for name in ("one.tsv.gz", "two.tsv.gz")]
            for output in outputs:
                run("-o", output, stdin=INDEX.encode())
            one, two = (output.read_bytes() for output in outputs)
        self.assertEqual(gzip.decompress(one).decode(), TSV)
        self.assertEqual(one, two)
        self.assertEqual(one[3:8], bytes(5), "flags and modification time of the gzip header")

    def test_broken_input_is_reported_and_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "out.tsv")
            for name, data in [("cut gzip", gzip.compress(INDEX.encode())[:-9]), ("binary", b"\x04\x22\x4d\x18\xff\n")]:
                with self.subTest(name):
                    result = run("-o", output, stdin=data)
                    self.assertEqual(result.returncode, 1)
                    self.assertTrue(result.stderr.startswith(b"extract.py: -: "), result.stderr)
                    self.assertFalse(output.exists())


class Shipped(unittest.TestCase):
    """dependencies.tsv.gz is what README.md says of it."""

    def test_edge_list(self):
        with gzip.open(HERE / "dependencies.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
            rows = [tuple(line.rstrip("\n").split("\t")) for line in lines]
        header, found = rows[0], rows[1:]
        self.assertEqual(header, extract.HEADER)
        self.assertEqual(found, sorted(set(found)), "sorted, each edge once")

        readme = (HERE / "README.md").read_text()
        for kind in extract.KINDS:
            count = sum(row[2] == kind for row in found)
            self.assertIn(f"| {kind} | {count:,} |", readme)
        vertices = {name for row in found for name in row[:2]}
        self.assertIn(f"| all edges | {len(found):,} |", readme)
        self.assertIn(f"| vertices | {len(vertices):,} |", readme)


if __name__ == "__main__":
    unittest.main()
