#!/usr/bin/env python3
"""Runs the examples of the book and writes their output into the pages.

    python3 docs/examples.py [--esker target/release/esker] [--renew] [PAGE ...]

In a block that begins with ```text, each line `$ COMMAND` is run and the lines below it, up to the next command, are replaced by its
output. The lines below `$ cat FILE` are the contents of a file instead, which is written for the commands that follow. A comment
`<!-- first: COMMAND -->` before the block is run without being shown; `$REPO` is the checkout. Each page has a directory of its own. A page
without such blocks is left alone. Output that differs from the page only in times, rates and sizes stays as it is, without --renew. Exit code 1 if an example
failed that should not: one whose output does not begin with `esker: `.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parent
FIRST = re.compile(r"<!-- first: (.*) -->")
# What differs from run to run: numbers with a unit, and times of day.
VARIES = re.compile(r"\d[\d .]* (?:ms|s|B|[KMG]iB|(?:[kMG] )?\w+/s)|[\dT:.-]+Z")


def same(one, other):
    """Whether two outputs differ in nothing that matters."""
    return [VARIES.sub("", line) for line in one] == [VARIES.sub("", line) for line in other]


class Page:
    """A page whose examples are run in a directory of their own."""

    def __init__(self, path, directory, environment, renew):
        self.path, self.directory, self.environment, self.renew = path, directory, environment, renew
        self.failures = []

    def run(self, command, shown):
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.directory, env=self.environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        if done.returncode and not (shown and done.stdout.startswith("esker: ")):
            self.failures.append(f"{self.path.name}: {command}\n{done.stdout}")
        return done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []

    def examples(self, lines):
        """The lines of a block, with the output of its commands."""
        parts = [[]]
        for line in lines:
            if line.startswith("$ "):
                parts.append([])
            parts[-1].append(line)
        out = parts[0]
        for command, *below in parts[1:]:
            while below and not below[-1]:
                below.pop()
            if name := re.fullmatch(r"\$ cat (\S+)", command):
                pathlib.Path(self.directory, name[1]).write_text("\n".join(below) + "\n")
            else:
                output = self.run(command[2:], shown=True)
                below = below if not self.renew and same(below, output) else output
            out += ([""] if out else []) + [command, *below]
        return out

    def render(self):
        text, out, block = self.path.read_text(), [], None
        for line in text.split("\n"):
            if block is not None and line == "```":
                out += [*self.examples(block), line]
                block = None
            elif block is not None:
                block.append(line)
            else:
                if first := FIRST.fullmatch(line):
                    self.run(first[1], shown=False)
                out.append(line)
                block = [] if line == "```text" else None
        if "\n$ " in text:
            self.path.write_text("\n".join(out))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--esker", default=DOCS.parent / "target" / "release" / "esker", type=pathlib.Path)
    arguments.add_argument("--renew", action="store_true", help="write all output, on a machine that does nothing else")
    arguments.add_argument("pages", nargs="*", type=pathlib.Path)
    given = arguments.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as programs:
        pathlib.Path(programs, "esker").symlink_to(given.esker.resolve())
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "REPO": str(DOCS.parent), "TZ": "UTC"}
        for path in given.pages or sorted(DOCS.glob("**/*.md")):
            with tempfile.TemporaryDirectory() as directory:
                page = Page(path, directory, environment, given.renew)
                page.render()
                failures += page.failures
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
