"""Hands lines to a command, so many at a time, and waits for as many lines of output before it goes on. Prints those.

usage: stream.py FILE LINES COMMAND...

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import subprocess
import sys

path, size, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
with open(path, encoding="utf-8") as file:
    lines = file.readlines()
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
    for begin in range(0, len(lines), size):
        some = lines[begin:begin + size]
        process.stdin.writelines(some)
        process.stdin.flush()
        if begin + size > len(lines):
            process.stdin.close()
        for _ in some:
            print(process.stdout.readline(), end="")
    process.stdin.close()
sys.exit(process.returncode)
