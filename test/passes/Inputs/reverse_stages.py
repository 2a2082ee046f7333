"""Writes a batch program from stdin to stdout with its stages in the opposite order."""

import re
import sys

text = sys.stdin.read()
stages = re.findall(r"^    batch\.stage .*?^    }\n", text, flags=re.M | re.S)
assert len(stages) > 1
for number, stage in enumerate(stages):
    text = text.replace(stage, f"stage {number}\n")
for number, stage in enumerate(reversed(stages)):
    text = text.replace(f"stage {number}\n", stage)
sys.stdout.write(text)
