"""Kills imports at random moments, and checks what they leave behind.

    kill_import.py --esker PROGRAM [--times N] [--edges N] [--seed N]

Each round starts `esker import` of a file of random edges and kills it, by SIGKILL and SIGINT in turn, between its start and
a little after its usual end. Afterwards the database is either whole (`esker check` finds it sound, and it has all
edges) or absent. SIGINT leaves nothing else in the directory; SIGKILL at most a staging directory, which the next
import removes. Rounds alternate between creating a database and replacing one with several versions and a tag: afterwards it
is unchanged, or the new one as a whole.
Ends with status 1 at the first violation. `cargo xtask prove kills` runs it.
"""

import argparse
from collections import Counter
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time


def write_edges(path, count, rng):
    """Weighted edges between text ids, so that the import maps ids too."""
    with open(path, "w") as file:
        file.write("source,target,weight\n")
        for _ in range(count):
            u, v = rng.randrange(count // 4), rng.randrange(count // 4)
            file.write(f"n{u},n{v},{rng.randrange(100)}\n")


class Rounds:
    def __init__(self, esker, folder, edges, memory):
        self.esker, self.folder, self.edges = esker, folder, edges
        self.database = folder / "web.esker"
        self.memory = memory
        self.counts = Counter()
        self.sound = None  # the state after a whole import

    def command(self, replace):
        arguments = [self.esker, "import", str(self.edges), str(self.database), "--memory", self.memory]
        return arguments + (["--force"] if replace else [])

    def ask(self, *arguments):
        done = subprocess.run([self.esker, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"esker {' '.join(arguments)}: status {done.returncode}: {done.stderr}")
        return done.stdout

    def state(self):
        """The output of `esker info`, or None if there is no database."""
        if not self.database.exists():
            return None
        self.ask("check", str(self.database))
        info = json.loads(self.ask("info", str(self.database), "--json"))
        log = json.loads(self.ask("log", str(self.database), "--json"))["versions"]
        versions = [(version["version"], version["edges"], tuple(version["tags"])) for version in log]
        return {"edges": info["edges"], "vertices": info["vertices"], "versions": versions}

    def make_versions(self):
        """Adds a version and a tag to the database."""
        more = self.folder / "more.csv"
        more.write_text("source,target,weight\nn0,new,1\n")
        self.ask("add", str(self.database), str(more))
        self.ask("tag", str(self.database), "1", "first")
        more.unlink()

    def others(self):
        """All names in the directory except the database and the input."""
        return sorted(p.name for p in self.folder.iterdir() if p not in (self.database, self.edges))

    def whole_import(self):
        """Imports without a kill; returns the seconds."""
        start = time.monotonic()
        subprocess.run(self.command(self.database.exists()), check=True, capture_output=True)
        seconds = time.monotonic() - start
        if self.others():
            sys.exit(f"an import leaves {self.others()} behind")
        return seconds

    def kill(self, wait, number):
        """One round; `wait` is in seconds."""
        if self.database.exists():
            self.make_versions()
        before = self.state()
        process = subprocess.Popen(self.command(before is not None), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(wait)
        process.send_signal(number)
        stderr = process.communicate(timeout=60)[1].decode()
        finished = process.returncode == 0
        name = signal.Signals(number).name
        if "panicked" in stderr:
            sys.exit(f"{name} after {wait:.3f} s: {stderr}")
        self.counts[f"{name}, {'too late' if finished else 'in time'}"] += 1
        after = self.state()
        if finished and after is None:
            sys.exit(f"{name} after {wait:.3f} s: the import succeeded but there is no database")
        if after is None and before is not None:
            sys.exit(f"{name} after {wait:.3f} s: the database that was to be replaced is gone")
        if after not in (before, self.sound) or (finished and after != self.sound):
            sys.exit(f"{name} after {wait:.3f} s: {before} became {after}")
        left = self.others()
        if number == signal.SIGINT and left:
            sys.exit(f"{name} after {wait:.3f} s leaves {left}: {stderr}")
        if any(not entry.startswith(".web.esker.staging-") for entry in left):
            sys.exit(f"{name} after {wait:.3f} s leaves {left}")
        self.counts["left a staging directory"] += bool(left)
        self.counts["left no database" if after is None else "left a whole database"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--esker", required=True)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--edges", type=int, default=300_000)
    parser.add_argument("--memory", default="32MiB", help="small, so that the import uses temporary files")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="esker-kill-") as folder:
        folder = pathlib.Path(folder)
        edges = folder / "web.csv"
        write_edges(edges, options.edges, rng)
        rounds = Rounds(options.esker, folder, edges, options.memory)
        seconds = rounds.whole_import()
        rounds.sound = rounds.state()
        for i in range(options.times):
            if i % 4 == 0:
                subprocess.run(["rm", "-r", str(rounds.database)], check=True)
            rounds.kill(rng.uniform(0, 1.1 * seconds), signal.SIGKILL if i % 2 == 0 else signal.SIGINT)
            if not rounds.database.exists():
                rounds.whole_import()
        rounds.whole_import()
        if rounds.state() != rounds.sound:
            sys.exit("the last import differs from the first")
        print(f"{options.times} imports of {options.edges} edges ({seconds:.2f} s each) were killed")
        for what, count in sorted(rounds.counts.items()):
            print(f"{count:5} {what}")


if __name__ == "__main__":
    main()
