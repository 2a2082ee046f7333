"""Prints how long answers take behind an edit of the largest of some models, and of a text with many characters that are not ASCII. Part of dbc, under Apache-2.0 WITH LLVM-exception;
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


def seconds_of(character):
    """How long a long comment of such characters takes to be read, the shortest of three times."""
    text = "model m;\n// " + 200_000 * character + "\nfn f(x: f32) -> f32 { x }\n"
    long, taken = Document(server, "/long.dyn", text), []
    for _ in range(3):
        start = time.perf_counter()
        long.put(text)
        assert long.diagnostics() == []
        taken.append(time.perf_counter() - start)
    long.close()
    return min(taken)


ascii, other = seconds_of("x"), seconds_of("\N{GRINNING FACE}")
print(f"a comment of 200000 characters: {1000 * ascii:.0f} ms, of emoji {1000 * other:.0f} ms")
assert other < 10 * ascii, "characters that are not ASCII are slow"
assert server.slowest < BOUND, f"an answer took {server.slowest:.2f} s"
assert server.stop() == 0
