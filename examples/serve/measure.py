"""Measures what batching does to latency: the server of this folder under wrk (Debian package wrk), with batches and one request
at a time, under several loads. Prints a table for Markdown.

usage: measure.py SERVE [--seconds S] [--rounds N] [--max-delay-us N]

A load is what clients that do not know of one another send, as a share of the most requests a second that the server with
batches answered just before, to 128 connections that ask again at once; `alone` is one connection. Both servers are measured in turn;
numbers are medians over the rounds.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request

CONNECTIONS = 128
SHARES = (0.2, 0.5, 0.8)
FOLDER = os.path.dirname(os.path.abspath(__file__))


def draw_tree(leaves):
    """A binary tree as the server reads it; the left part is one word as often as in English."""
    if leaves == 1:
        return str(random.randrange(20000))
    left = 1 if random.random() < 0.56 else random.randrange(1, leaves)
    return f"({draw_tree(left)} {draw_tree(leaves - left)})"


class Server:
    """The server, and what is asked of it."""

    def __init__(self, program, trees, max_batch, delay_us):
        self.trees = trees
        self.process = subprocess.Popen([program, "0", str(max_batch), str(delay_us)], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def batches(self):
        """How many batches there were, and how many requests in them."""
        with urllib.request.urlopen(self.url + "/metrics") as answer:
            text = answer.read().decode()
        return [int(re.search(rf"^dbc_batch_size_{what}{{.*}} (\d+)$", text, flags=re.M)[1]) for what in ("count", "sum")]

    def load(self, connections, seconds, pause_ms=0.0):
        """Requests a second, microseconds at the percentiles 50, 90 and 99, and requests a batch."""
        before = self.batches()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", os.path.join(FOLDER, "load.lua"), self.url]
        wrk = subprocess.run(command, env={**os.environ, "TREES": self.trees, "PAUSE_MS": str(pause_ms)}, stdout=subprocess.PIPE,
                             text=True, check=True)
        found = re.search(r"^requests (\d+) microseconds (\d+) p50 (\d+) p90 (\d+) p99 (\d+) errors (\d+)$", wrk.stdout, flags=re.M)
        requests, duration, p50, p90, p99, errors = map(int, found.groups())
        if errors:
            sys.exit(f"{errors} of {requests} requests were not answered")
        count, total = (after - x for after, x in zip(self.batches(), before))
        return requests / duration * 1e6, p50, p90, p99, total / count

    def rate(self, wanted, seconds):
        """load() at about so many requests a second: a first try says what a connection needs beside its pauses."""
        between = CONNECTIONS / wanted * 1e3
        needed = CONNECTIONS / self.load(CONNECTIONS, 2, between)[0] * 1e3 - between
        return self.load(CONNECTIONS, seconds, max(1.0, between - needed))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measure(servers, seconds):
    """All loads of one round: numbers by the names of server and load."""
    numbers, most = {}, None
    for name, server in servers.items():
        numbers[name, "alone"] = server.load(1, seconds)
        full = server.load(CONNECTIONS, seconds)
        most = most or full[0]
        for share in SHARES:
            numbers[name, f"{share:.0%}"] = server.rate(share * most, seconds)
        numbers[name, "as fast as it goes"] = full
    return numbers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("serve")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-delay-us", type=int, default=0)
    options = parser.parse_args()
    random.seed(1)
    with tempfile.NamedTemporaryFile("w", suffix=".trees") as trees:
        trees.writelines(draw_tree(random.randint(3, 34)) + "\n" for _ in range(2000))
        trees.flush()
        servers = {f"at most {size} in a batch": Server(options.serve, trees.name, size, options.max_delay_us) for size in (64, 1)}
        try:
            for server in servers.values():
                server.load(CONNECTIONS, 1)  # warms up
            rounds = [measure(servers, options.seconds) for _ in range(options.rounds)]
        finally:
            for server in servers.values():
                server.stop()
    print("| | load | requests/s | p50, ms | p90 | p99 | requests in a batch |\n|---|---|---|---|---|---|---|")
    for name, load in rounds[0]:
        rate, *percentiles, batch = map(statistics.median, zip(*(measured[name, load] for measured in rounds)))
        print(f"| {name} | {load} | {rate:.0f} | {' | '.join(f'{us / 1000:.2f}' for us in percentiles)} | {batch:.1f} |")


main()
