"""killed.py DBC MODEL FOLDER: a rank of a training over three is killed by signal 9. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

dbc, model, folder = sys.argv[1:]
lines = os.path.join(folder, "lines.jsonl")


def command(ranks, out, epochs, *options):
    return ["mpirun", "-n", str(ranks), dbc, "train", model, "--loss", "of_rows", "--train", lines, "--optimizer", "adam",
            "--lr", "0.05", "--batch", "8", "--checkpoint-every", "3", "--epochs", str(epochs), "--out", out, "--shard-optimizer", *options]


def ranks_of(mpirun, count):
    """The processes of a launcher, by their ranks, once they are trainers."""
    for _ in range(600):
        found = {}
        with open(f"/proc/{mpirun}/task/{mpirun}/children") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/environ", "rb") as file:
                for each in file.read().split(b"\0"):
                    if each.startswith(b"OMPI_COMM_WORLD_RANK="):
                        found[int(each.split(b"=")[1])] = int(child)
        if len(found) == count and all(os.readlink(f"/proc/{child}/exe").endswith("-trainer") for child in found.values()):
            return found
        time.sleep(0.05)
    sys.exit(f"{count} ranks do not start")


for victim in (0, 2):
    out = os.path.join(folder, f"killed{victim}")
    shutil.rmtree(out, ignore_errors=True)
    process = subprocess.Popen(command(3, out, 1000000), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ranks = ranks_of(process.pid, 3)
    while not os.path.exists(os.path.join(out, "state.json")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(ranks[victim], signal.SIGKILL)
    killed = time.monotonic()
    words = process.communicate()[1]
    assert time.monotonic() - killed < 30, f"ended after {time.monotonic() - killed} s"
    assert process.returncode != 0 and "signal 9 (Killed)" in words, words
    if victim != 0:
        assert ("dbc: error: the training was ended from outside, or another of its processes has ended; what was saved stays, and "
                "--resume goes on with it\n") in words, words
    left = list(ranks.values())  # the launcher may end a moment before what it has killed
    while left := [child for child in left if os.path.exists(f"/proc/{child}/exe")]:
        assert time.monotonic() - killed < 30, f"{left} are still there"
        time.sleep(0.05)
    # From what was saved, twice: the same bits.
    epochs = json.load(open(os.path.join(out, "state.json")))["progress"]["epoch"]
    last = []
    for copy in (out + ".first", out + ".second"):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(out, copy)
        done = subprocess.run(command(2, copy, epochs + 2, "--resume"), capture_output=True, text=True)
        assert done.returncode == 0 and f"epoch {epochs + 2}: loss" in done.stderr, done.stderr
        last.append(open(os.path.join(copy, "last.safetensors"), "rb").read())
    assert last[0] == last[1]
    print(f"rank {victim} killed: ended in time, resumed over 2")
