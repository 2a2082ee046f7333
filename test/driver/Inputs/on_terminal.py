"""Runs a command whose error stream is a terminal, and prints what it says there.

usage: on_terminal.py COMMAND [ARGUMENT...]
Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import pty
import subprocess
import sys

reader, terminal = pty.openpty()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=terminal, check=False)
os.write(terminal, b"\n")  # so that there is something to read
os.close(terminal)
print(os.read(reader, 1 << 16).decode(), end="")
sys.exit(done.returncode)
