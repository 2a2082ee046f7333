"""Runs a command, expects N results on its output, all finite numbers, and a peak of memory below a bound.

usage: expect_finite.py N MEGABYTES COMMAND...

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import math
import resource
import subprocess
import sys

count, bound = int(sys.argv[1]), int(sys.argv[2])
done = subprocess.run(sys.argv[3:], stdout=subprocess.PIPE, check=True)
lines = done.stdout.decode().splitlines()
if len(lines) != count:
    sys.exit(f"{len(lines)} results, not {count}")
for line in set(lines):
    values = json.loads(line)
    if len(values) != 2 or not all(math.isfinite(x) for x in values) or not any(values):
        sys.exit(f"not a result: {line}")
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{count} results, {peak:.0f} MB")
if peak > bound:
    sys.exit(f"{peak:.0f} MB, more than {bound}")
