"""How the time of a command of `dbc` grows: scaling.py DBC FOLDER COMMAND N FAMILY.. runs it on models of size N and 4 N.

Prints one line for a family that takes more than n log n allows: each doubling at most 2.6 times as long. The time is that of the CPU in
the program itself, the least of three runs; where that is too much, of up to nine, as other work on the machine only ever adds to it.
"""

import pathlib
import resource
import subprocess
import sys

from families import FAMILIES, model

MOST = 2.6**2


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main(dbc, folder, command, n, families):
    path = pathlib.Path(folder) / "family.dyn"
    commands = {
        "check": ["check"],
        "compile": ["compile", "-o", folder],
        "compile-train": ["compile", "--mode", "train", "-o", folder],
        "compile-cuda": ["compile", "--target", "cuda", "-o", folder],
    }
    for family in families:
        times = [float("inf"), float("inf")]
        for run in range(9):
            for number, size in enumerate((n, 4 * n)):
                path.write_text(model(family, size))
                times[number] = min(times[number], seconds([dbc, *commands[command], path]))
            if run >= 2 and times[1] <= MOST * max(times[0], 0.01):
                break
        else:
            print(f"{command} {family}: {n} takes {times[0]:.2f} s, {4 * n} takes {times[1]:.2f} s")


# Without those that the language holds to a smaller number, that are wrong, and n fields of one constructor, which are found by going
# through them.
ANY_NUMBER = [each for each in FAMILIES if each not in ("constructors", "records", "binders", "ifs", "errors", "calls_of_a_cell")]

main(*sys.argv[1:4], int(sys.argv[4]), sys.argv[5:] or ANY_NUMBER)
