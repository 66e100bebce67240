"""Extracts the dependency graph of Debian's binary packages as an edge list.

Reads Packages indices (the stanzas that apt downloads; plain, gzip or xz, told apart by their first bytes) and
writes tab-separated lines under the header `source target kind`: package `source` names package `target` in its
field `kind`.

Kinds: depends, pre-depends, recommends, suggests. These are the relations that pull something in, so a path along
them means "may bring along". Breaks, conflicts and replaces push packages apart, and enhances points the other way;
mixed into the same graph they would make its paths meaningless.

What becomes of the details:
  alternatives `a | b`               one edge to each; that one of them suffices is lost
  versions `(>= 1.2)`, `:any`        dropped
  virtual packages                   vertices like any other, under the name that the field gives
  the same edge more than once       written once, also when several versions of a package are listed
  packages without any such edge     absent: an edge list has no place for them

The output is sorted by source, target and kind (by code point), so equal input gives equal text. Under a name that
ends in .gz it is compressed, without name or time in the header. Memory: the edges, about 300 bytes each.
"""

import argparse
import contextlib
import gzip
import io
import lzma
import re
import sys
from collections import Counter

KINDS = ("depends", "pre-depends", "recommends", "suggests")
HEADER = ("source", "target", "kind")

# One alternative of a relation field, e.g. `python3:any (>= 3.11~)`; the name as Debian Policy 5.6.7 has it.
RELATION = re.compile(r"([a-z0-9][a-z0-9+.-]+)(?::[a-z0-9-]+)?\s*(?:\([^()]*\))?")


@contextlib.contextmanager
def open_index(path):
    """Opens an index as text lines; `-` is standard input."""
    with contextlib.ExitStack() as stack:
        raw = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
        magic = raw.peek(6)
        if magic.startswith(b"\x1f\x8b"):
            raw = stack.enter_context(gzip.open(raw))
        elif magic.startswith(b"\xfd7zXZ\x00"):
            raw = stack.enter_context(lzma.open(raw))
        yield io.TextIOWrapper(raw, encoding="utf-8", newline="\n")


def stanzas(lines):
    """Yields each stanza as a dict of lower-case field name to value, folded lines joined."""
    fields, name = {}, None
    for number, line in enumerate(lines, start=1):
        line = line.rstrip()
        if not line:
            if fields:
                yield fields
            fields, name = {}, None
        elif line[0] in " \t" and name:
            fields[name] += line
        else:
            name, colon, value = line.partition(":")
            if not colon:
                raise ValueError(f"line {number} is neither a field nor its continuation: {line[:60]!r}")
            name = name.lower()
            fields[name] = value
    if fields:
        yield fields


def targets(relations):
    """Yields the package names in the value of a relation field, alternatives one by one."""
    for alternative in re.split(r"[,|]", relations):
        alternative = alternative.strip()
        if alternative:
            match = RELATION.fullmatch(alternative)
            if not match:
                raise ValueError(f"not a package relation: {alternative!r}")
            yield match[1]


def edges(lines):
    """Returns the set of package names of one index and the set of its edges (source, target, kind)."""
    packages, found = set(), set()
    for fields in stanzas(lines):
        if "package" not in fields:
            raise ValueError(f"a stanza without a Package field; it has {', '.join(fields)}")
        source = fields["package"].strip()
        packages.add(source)
        for kind in KINDS:
            found.update((source, target, kind) for target in targets(fields.get(kind, "")))
    return packages, found


def write_tsv(out, found):
    """Writes header and edges, sorted, to a binary stream."""
    for row in [HEADER, *sorted(found)]:
        out.write("\t".join(row).encode() + b"\n")


def write_output(path, found):
    """Writes the edges to `path`, compressed where it ends in .gz; `-` is standard output."""
    with contextlib.ExitStack() as stack:
        out = sys.stdout.buffer if path == "-" else stack.enter_context(open(path, "wb"))
        if path.endswith(".gz"):
            out = stack.enter_context(gzip.GzipFile("", "wb", 9, out, mtime=0))
        write_tsv(out, found)


def summary(packages, found):
    """Returns what was extracted, in lines for people."""
    vertices = {name for edge in found for name in edge[:2]}
    per_kind = Counter(kind for _, _, kind in found)
    return "\n".join(
        [
            f"{len(packages)} packages, {len(packages - vertices)} of them without an edge",
            f"{len(vertices)} vertices, {len(vertices - packages)} of them no package of the input",
            f"{len(found)} edges, {sum(source == target for source, target, _ in found)} of them loops",
            *(f"{per_kind[kind]} {kind}" for kind in KINDS),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", nargs="*", default=["-"], help="Packages index (default: -, standard input)")
    parser.add_argument("-o", "--output", default="-", help="TSV to write (default: -, standard output)")
    args = parser.parse_args()

    packages, found = set(), set()
    for path in args.index:
        try:
            with open_index(path) as lines:
                more_packages, more_edges = edges(lines)
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            sys.exit(f"extract.py: {path}: {error}")
        packages |= more_packages
        found |= more_edges
    write_output(args.output, found)
    print(summary(packages, found), file=sys.stderr)


if __name__ == "__main__":
    main()
