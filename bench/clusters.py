#!/usr/bin/env python3
"""What a cluster costs by its number of processes, and a model of its time on many machines.

    python3 bench/clusters.py counts [--scale 18] [--processes 1,2,4,8,16]        # counts, and costs of work, of vertices that are shared, of messages
    python3 bench/clusters.py model [--scales 18,24,30] [--latency 50us] [--bandwidth 10Gbit]    # from these: 1 to 1024 machines
    sudo python3 bench/clusters.py network [--trials 3]                           # machines in network namespaces: predicted and measured

The graphs are R-MAT, 16 edges a vertex, undirected. Counts are those of `--json`: messages, bytes, exchanges and peak memory of workers. The
processor time is of all processes of a command.

The model: a run on P machines, of one worker with one processor each, takes

    start + (arcs * a + ghosts(P) * g) / P + exchanges * ((P - 1) * m + k * latency) + bytes(P) / P / bandwidth

where a, g and m are seconds of a processor for an arc, a ghost and a message, and k latencies are waited for in an exchange. The number of ghosts
follows from the graph: a vertex of degree d is a ghost in each other shard with the probability 1 - (1 - 1/P)^d, and R-MAT has binomially many
vertices of each expected degree. Bytes are proportional to ghosts. A start is that of processes, with connections, on an empty graph.

`network` joins namespaces by a program of its own that holds back each packet for the latency and for its length over the bandwidth of its
sender (kernels without `tc netem` have no delays). Without slow start after idle times, and with packets of 9000 bytes.
"""

import argparse
import ctypes
import fcntl
import heapq
import json
import math
import os
import resource
import select
import shutil
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

ALGORITHMS = {"bfs": ["--source", "SOURCE"], "pagerank": ["--rounds", "20", "--tolerance", "0"], "wcc": []}
TINY_SCALE = 8  # every shard has something for every other one, and next to no work
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds(text):
    unit = next(unit for unit in UNITS if text.endswith(unit))
    return float(text.removesuffix(unit)) * UNITS[unit]


def bytes_a_second(text):
    return float(text.removesuffix("Gbit")) * 1e9 / 8 if text.endswith("Gbit") else float(text.removesuffix("Mbit")) * 1e6 / 8


def ghosts(scale, processes, degree=16):
    """Expected ghosts of all shards of an R-MAT graph with the usual parameters."""
    edges, found = degree << scale, 0.0
    for ones in range(scale + 1):
        arcs = 2 * edges * 0.76 ** (scale - ones) * 0.24**ones  # of a vertex with so many ones in its number
        found += math.comb(scale, ones) * (processes - 1) * -math.expm1(-arcs / processes)
    return found


class Cluster:
    """A cluster of a generated graph, kept between runs."""

    def __init__(self, arguments, scale, processes, before=(), where=None, create=()):
        self.program, self.before = arguments.esker, before
        self.name = Path(where or arguments.work) / f"rmat{scale}-{processes}.cluster"
        self.edges = Path(arguments.work).absolute() / f"rmat{scale}.graph500"
        if not self.edges.exists():
            call(self.program, "generate", "rmat", "--scale", scale, self.edges, "-q")
        shutil.rmtree(self.name, ignore_errors=True)
        call(*before, self.program, "cluster", "create", self.name, *(create or ["--shards", processes]), "--undirected", "--seed", 1)
        self.adding = json.loads(call(*before, self.program, "cluster", "add", self.name, self.edges, "--json"))
        top = json.loads(call(*before, self.program, "cluster", "run", "degrees", self.name, "--top", 1, "--json"))
        self.source, self.arcs = top["top"][0]["vertex"], top["figures"]["arcs"]

    def run(self, algorithm, *options):
        """What the command reports, with the seconds of the processor that all its processes took."""
        words = [self.source if option == "SOURCE" else option for option in options or ALGORITHMS[algorithm]]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = json.loads(call(*self.before, self.program, "cluster", "run", algorithm, self.name, "--top", 1, "--json", *words))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["processor"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return found

    def median(self, trials, algorithm, *options):
        runs = [self.run(algorithm, *options) for _ in range(trials)]
        found = sorted(runs, key=lambda run: run["seconds"])[trials // 2]
        found["processor"] = statistics.median(run["processor"] for run in runs)
        return found


def total(workers, field):
    return sum(worker[field] for worker in workers)


def most(workers, field):
    return max(worker[field] for worker in workers)


def counts(arguments):
    found = {}
    print("| processes | `add`: messages, bytes an edge | exchanges | peak, MiB | " +
          " | ".join(f"{name}: exchanges, messages, bytes an arc, peak MiB, s, of processors s" for name in ALGORITHMS) +
          " | ghosts, expected |\n|---" + "|---" * (4 + len(ALGORITHMS)) + "|")
    for processes in map(int, arguments.processes.split(",")):
        tiny = Cluster(arguments, TINY_SCALE, processes)
        first, second = (tiny.median(arguments.trials, "pagerank", "--tolerance", 0, "--rounds", rounds) for rounds in (1, 101))
        more = second["workers"][0]["exchanges"] - first["workers"][0]["exchanges"]
        cluster = Cluster(arguments, arguments.scale, processes)
        info = json.loads(call(cluster.program, "cluster", "info", cluster.name, "--json"))
        added = cluster.adding["workers"]
        row = {"arcs": cluster.arcs, "ghosts": total(info["shards"], "ghosts"),
               "start": first["seconds"], "start processor": first["processor"],
               "exchange": (second["seconds"] - first["seconds"]) / more, "exchange processor": (second["processor"] - first["processor"]) / more}
        given = cluster.adding["edges"]
        cells = [f"{total(added, 'messages') / given:.6f}, {total(added, 'bytes_sent') / given:.2f}", f"{most(added, 'exchanges')}",
                 f"{most(added, 'peak_memory_bytes') / 2**20:.0f}"]
        for name in ALGORITHMS:
            run = cluster.median(arguments.trials, name)
            workers = run["workers"]
            row[name] = {"exchanges": most(workers, "exchanges"), "messages": total(workers, "messages"), "bytes": total(workers, "bytes_sent"),
                         "most bytes": most(workers, "bytes_sent"), "peak": most(workers, "peak_memory_bytes"), "seconds": run["seconds"],
                         "processor": run["processor"]}
            of = row[name]
            cells.append(f"{of['exchanges']}, {of['messages']}, {of['bytes'] / cluster.arcs:.3f}, {of['peak'] / 2**20:.0f}, {of['seconds']:.2f}, "
                         f"{of['processor']:.2f}")
        shutil.rmtree(cluster.name)
        shutil.rmtree(tiny.name)
        found[processes] = row
        print(f"| {processes} | " + " | ".join(cells) + f" | {row['ghosts']}, {ghosts(arguments.scale, processes):.0f} |", flush=True)
    for processes, row in found.items():
        print(f"{processes}: start {row['start']:.3f} s, of processors {row['start processor']:.3f} s; an exchange {row['exchange'] * 1e6:.0f} us, "
              f"of processors {row['exchange processor'] * 1e6:.0f} us")
    Path(arguments.counts).write_text(json.dumps({"scale": arguments.scale, "by processes": found}, indent=1) + "\n")


class Costs:
    """The constants of the model for one algorithm, from counts."""

    def __init__(self, counted, algorithm):
        by = {int(processes): row for processes, row in counted["by processes"].items()}
        one, last = by[1], by[max(by)]
        of = last[algorithm]
        self.start, self.exchanges = one["start"], of["exchanges"]
        arcs = 32 << counted["scale"]  # as given: some are equal
        self.arc = (one[algorithm]["processor"] - one["start processor"]) / arcs
        # An exchange among P processes is P (P - 1) messages, those that say how far each is included.
        count = max(by)
        self.message = last["exchange processor"] / (count * (count - 1))
        spent = of["processor"] - last["start processor"] - of["exchanges"] * last["exchange processor"]
        self.ghost = max(0.0, spent - self.arc * arcs) / last["ghosts"]
        self.ghost_bytes = statistics.mean(row[algorithm]["bytes"] / row["ghosts"] for row in by.values() if row["ghosts"])

        # For the other numbers of processes: the seconds that these constants predict, and those that were counted.
        self.checks = [(processes, row["start processor"] + arcs * self.arc + row["ghosts"] * self.ghost +
                        row[algorithm]["exchanges"] * processes * (processes - 1) * self.message, row[algorithm]["processor"])
                       for processes, row in by.items() if 1 < processes < count]

    def parts(self, scale, processes, latency, bandwidth, latencies):
        arcs, shared = 32 << scale, ghosts(scale, processes)
        return {"work": arcs * self.arc / processes, "ghosts": shared * self.ghost / processes,
                "messages": self.exchanges * (processes - 1) * self.message,
                "latency": self.exchanges * latencies * latency if processes > 1 else 0.0,
                "bandwidth": shared * self.ghost_bytes / processes / bandwidth}


def model(arguments):
    counted = json.loads(Path(arguments.counts).read_text())
    latency, bandwidth = seconds(arguments.latency), bytes_a_second(arguments.bandwidth)
    for algorithm in ALGORITHMS:
        costs = Costs(counted, algorithm)
        print(f"\n{algorithm}: {costs.arc * 1e9:.2f} ns an arc, {costs.ghost * 1e9:.0f} ns and {costs.ghost_bytes:.1f} bytes a ghost, "
              f"{costs.message * 1e6:.1f} us a message, {costs.exchanges} exchanges")
        for processes, said, counted_seconds in costs.checks:
            print(f"{processes} processes: {said:.2f} s of processors expected, {counted_seconds:.2f} counted")
        print("| scale, machines | seconds without the start | work | ghosts | messages | latency | bandwidth | times one machine |\n"
              "|---|---|---|---|---|---|---|---|")
        for scale in map(int, arguments.scales.split(",")):
            alone = sum(costs.parts(scale, 1, latency, bandwidth, arguments.latencies).values())
            for machines in (1, 8, 64, 1024):
                parts = costs.parts(scale, machines, latency, bandwidth, arguments.latencies)
                whole = sum(parts.values())
                print(f"| {scale}, {machines} | {whole:.3g} | " + " | ".join(f"{part / whole * 100:.0f} %" for part in parts.values()) +
                      f" | {alone / whole:.1f} |")
            times = {2**power: sum(costs.parts(scale, 2**power, latency, bandwidth, arguments.latencies).values()) for power in range(17)}
            best = min(times, key=times.get)
            print(f"| {scale}, shortest: {best} | {times[best]:.3g} | | | | | | |")


class Network:
    """Namespaces whose only way to each other is a program that holds back what they send."""

    def __init__(self, machines):
        self.names, self.taps = [f"esker{os.getpid()}m{number}" for number in range(machines)], []
        for number, name in enumerate(self.names):
            call("ip", "netns", "add", name)
            tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH", f"esk{number}".encode(), 0x1001))  # TUNSETIFF: IFF_TUN | IFF_NO_PI
            self.taps.append(tap)
            call("ip", "link", "set", f"esk{number}", "netns", name, "name", "eth")
            call("ip", "-n", name, "addr", "add", f"10.77.0.{number + 1}/24", "dev", "eth")
            call("ip", "-n", name, "link", "set", "eth", "mtu", 9000, "txqueuelen", 10000, "up")
            call("ip", "-n", name, "link", "set", "lo", "up")
            call("ip", "netns", "exec", name, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle")
        self.relay = None

    def inside(self, number):
        return ("ip", "netns", "exec", self.names[number])

    def shape(self, latency, bandwidth):
        """From now on packets take so long."""
        self.still()
        self.relay = os.fork()
        if self.relay == 0:
            ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG
            relay(self.taps, latency, bandwidth)

    def still(self):
        if self.relay:
            os.kill(self.relay, 9)
            os.waitpid(self.relay, 0)
            self.relay = None

    def end(self):
        self.still()
        for name in self.names:
            call("ip", "netns", "del", name)


def relay(taps, latency, bandwidth):
    waiting, free, order = [], [0.0] * len(taps), 0
    while True:
        pause = max(0.0, waiting[0][0] - time.perf_counter()) if waiting else None
        ready, _, _ = select.select(taps, [], [], pause)
        now = time.perf_counter()
        for tap in ready:
            sender = taps.index(tap)
            for _ in range(64):
                try:
                    packet = os.read(tap, 9100)
                except BlockingIOError:
                    break
                if packet[0] >> 4 != 4 or not 1 <= packet[19] <= len(taps):
                    continue
                free[sender] = max(free[sender], now) + (len(packet) / bandwidth if bandwidth else 0.0)
                order += 1
                heapq.heappush(waiting, (free[sender] + latency, order, taps[packet[19] - 1], packet))
        while waiting and waiting[0][0] <= time.perf_counter():
            _, _, tap, packet = heapq.heappop(waiting)
            try:
                os.write(tap, packet)
            except BlockingIOError:
                pass


def network(arguments):
    machines, place = 2, Path(arguments.work).absolute() / "network"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    secret = place / "secret"
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    joined, workers = Network(machines + 1), []
    try:
        joined.shape(0.0, 0.0)
        for number in range(machines):
            words = [arguments.esker, "cluster", "worker", "--listen", f"10.77.0.{number + 1}", "--directory", place / f"m{number}",
                     "--secret", secret]
            workers.append(subprocess.Popen([*joined.inside(number), *map(str, words)], stdout=subprocess.PIPE, text=True))
            workers[-1].stdout.readline()
        hosts = place / "hosts"
        hosts.write_text("".join(f"10.77.0.{number + 1}\n" for number in range(machines)))
        make = ["--hosts", hosts, "--secret", secret]
        before = joined.inside(machines)
        tiny = Cluster(arguments, TINY_SCALE, machines, before, place, make)
        cluster = Cluster(arguments, arguments.scale, machines, before, place, make)
        compare(arguments, joined, tiny, cluster)
    finally:
        for worker in workers:
            worker.terminate()
            worker.wait()
        joined.end()
        shutil.rmtree(place)


def compare(arguments, joined, tiny, cluster):
    """What latency costs the start and an exchange, by a tiny graph at one latency; then all else predicted and measured."""

    def of_tiny():
        one, more = (tiny.median(arguments.trials, "pagerank", "--tolerance", 0, "--rounds", rounds) for rounds in (1, 51))
        exchanges = more["workers"][0]["exchanges"] - one["workers"][0]["exchanges"]
        each = (more["seconds"] - one["seconds"]) / exchanges
        return each, one["seconds"] - each * one["workers"][0]["exchanges"]

    calm_exchange, calm_start = of_tiny()
    calm = {name: cluster.median(arguments.trials, name) for name in ALGORITHMS}
    joined.shape(0.005, 0.0)
    slow_exchange, slow_start = of_tiny()
    k, k_start = (slow_exchange - calm_exchange) / 0.005, (slow_start - calm_start) / 0.005
    print(f"an exchange waits for {k:.2f} latencies, a start for {k_start:.1f}; without latency an exchange takes {calm_exchange * 1e6:.0f} us, "
          f"a start {calm_start:.3f} s")
    print("| latency, bandwidth | " + " | ".join(f"{name}: predicted, measured, s" for name in ALGORITHMS) + " |\n|---" + "|---" * len(ALGORITHMS) + "|")
    print("| none | " + " | ".join(f"{run['seconds']:.3f}" for run in calm.values()) + " |", flush=True)
    for point in arguments.points.split(","):
        latency, bandwidth = point.split(":")
        joined.shape(seconds(latency), bytes_a_second(bandwidth))
        cells = []
        for name, run in calm.items():
            exchanges, sent = most(run["workers"], "exchanges"), most(run["workers"], "bytes_sent")
            expected = run["seconds"] + (k_start + k * exchanges) * seconds(latency) + sent / bytes_a_second(bandwidth)
            cells.append(f"{expected:.3f}, {cluster.median(arguments.trials, name)['seconds']:.3f}")
        print(f"| {latency}, {bandwidth} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["counts", "model", "network"])
    parser.add_argument("--esker", default="target/release/esker", help="built with the feature `cluster`")
    parser.add_argument("--scale", type=int, default=18)
    parser.add_argument("--processes", default="1,2,4,8,16")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--counts", default="target/bench/clusters.json", help="where `counts` writes and `model` reads")
    parser.add_argument("--work", default="target/bench/clusters", help="where graphs are kept")
    parser.add_argument("--scales", default="18,24,30", help="of the model")
    parser.add_argument("--latency", default="50us")
    parser.add_argument("--latencies", type=float, default=2.0, help="that an exchange waits for: `network` measures them")
    parser.add_argument("--bandwidth", default="10Gbit")
    parser.add_argument("--points", default="1ms:10Gbit,200us:1Gbit,5ms:100Mbit,20ms:1Gbit", help="of `network`: latency and bandwidth")
    arguments = parser.parse_args()
    Path(arguments.work).mkdir(parents=True, exist_ok=True)
    {"counts": counts, "model": model, "network": network}[arguments.what](arguments)


if __name__ == "__main__":
    main()
