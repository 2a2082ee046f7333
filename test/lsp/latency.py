"""Prints how long answers take behind an edit of the largest of some models. Part of dbc, under Apache-2.0 WITH LLVM-exception;
see LICENSE.

usage: latency.py DBC-LSP FILE..
"""
import os
import statistics
import sys
import time

from client import Document, Server

BOUND = 2.0  # seconds that any answer may take, on a machine that does other things too
server = Server(sys.argv[1])
path = max(sys.argv[2:], key=os.path.getsize)
document = Document(server, path)
document.diagnostics()
at = document.text.rindex("}")
for request in ("hover", "completion"):
    taken = []
    for _ in range(20):
        start = time.perf_counter()
        document.replace(at, at, " ")
        document.ask(request, at - 1)
        taken.append(1000 * (time.perf_counter() - start))
    print(f"{os.path.basename(path)}, {os.path.getsize(path)} bytes: {request} behind an edit {statistics.median(taken):.1f} ms, at most {max(taken):.1f} ms")
assert server.slowest < BOUND, f"an answer took {server.slowest:.2f} s"
assert server.stop() == 0
