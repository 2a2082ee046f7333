"""train_killed.py DBC MODEL LINES FOLDER KILLS SEED: training that is killed by signal 9 at KILLS random moments and resumed
each time ends with the bits of one that was not. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import time

dbc, model, lines, folder, kills, seed = *sys.argv[1:5], int(sys.argv[5]), int(sys.argv[6])
random.seed(seed)
# With dropout, a table, and a rate that falls by the metric: all of it goes on where it was.
command = [dbc, "train", model, "--loss", "of_rows", "--train", lines, "--dev", lines, "--metric", "accuracy:tags", "--label", "tag",
           "--optimizer", "adam", "--lr", "0.05", "--schedule", "plateau", "--warmup", "4", "--batch", "4", "--epochs", "3",
           "--checkpoint-every", "1", "--resume"]
FILES = ["last.safetensors", "last.optimizer.safetensors", "best.safetensors"]


def start(out):
    return subprocess.Popen([*command, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(out):
    begin = time.monotonic()
    process = start(out)
    data, words = process.communicate()
    if process.returncode != 0:
        sys.exit(f"seed {seed}: exit code {process.returncode}: {words}")
    return data, time.monotonic() - begin


whole = os.path.join(folder, "whole")
expected, _ = finish(whole)
shutil.rmtree(whole)
expected, seconds = finish(whole)  # the model is compiled now
killed = resumed = 0
while killed < kills:
    cut = os.path.join(folder, "cut")
    shutil.rmtree(cut, ignore_errors=True)
    # Several kills in one training, each at any moment of what a whole one takes.
    while killed < kills:
        process = start(cut)
        try:
            process.wait(random.uniform(0, seconds))
            break  # it came to its end
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += 1
    resumed += os.path.exists(os.path.join(cut, "state.json"))
    found, _ = finish(cut)
    if found != expected:
        sys.exit(f"seed {seed}: ends with {found}, not {expected}")
    for name in FILES:
        if not filecmp.cmp(os.path.join(cut, name), os.path.join(whole, name), shallow=False):
            sys.exit(f"seed {seed}: {name} has other bits after {killed} kills")
    rows = [line.split(",")[:5] for line in open(os.path.join(cut, "log.csv"))]
    if rows != [line.split(",")[:5] for line in open(os.path.join(whole, "log.csv"))]:
        sys.exit(f"seed {seed}: another log: {rows}")
    if sorted(os.listdir(cut)) != sorted(os.listdir(whole)):
        sys.exit(f"seed {seed}: {sorted(os.listdir(cut))}")
print(f"seed {seed}: {killed} kills, {resumed} trainings resumed from a checkpoint, same bits")
