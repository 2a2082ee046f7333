"""Runs docs/python.md as documents.py does, with a `python3` on the PATH that is this one.

usage: document.py ROOT BUILD SCRATCH

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import subprocess
import sys

root, build, scratch = sys.argv[1:]
wrapper = os.path.join(scratch, "bin", "python3")
os.makedirs(os.path.dirname(wrapper), exist_ok=True)
with open(wrapper, "w") as file:
    file.write(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
os.chmod(wrapper, 0o755)
os.environ["PATH"] = os.pathsep.join([os.path.dirname(wrapper), os.path.join(build, "bin"), os.environ["PATH"]])
sys.exit(subprocess.run([sys.executable, os.path.join(root, "test", "docs", "documents.py"), root, build, scratch + "/run",
                         os.path.join(root, "docs", "python.md")]).returncode)
