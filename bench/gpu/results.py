"""What a phase has found, kept in one file: a phase that was cut goes on where it was. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import datetime
import glob
import json
import os
import shutil


def measure_error(found, expected):
    """max |a - b| / max(1, max |b|) of two JSON values, infinite where their forms differ; the largest number b, and the
    least."""
    pairs = []

    def walk(a, b):
        if isinstance(b, list) and isinstance(a, list) and len(a) == len(b):
            for x, y in zip(a, b):
                walk(x, y)
        elif isinstance(b, dict) and isinstance(a, dict) and a.keys() == b.keys():
            for key in b:
                walk(a[key], b[key])
        elif isinstance(b, float) or isinstance(a, float):
            number = not isinstance(a, (str, list, dict)) and not isinstance(b, (str, list, dict))
            pairs.append((float(a), float(b)) if number else (0 if a == b else float("inf"), 0))
        else:  # indices, bools, words for what is not finite
            pairs.append((0 if a == b else float("inf"), 0))

    walk(found, expected)
    values = [b for _, b in pairs]
    error = max((abs(a - b) for a, b in pairs), default=0) / max([1] + [abs(b) for b in values])
    return error, max(values, default=0), min(values, default=0)


class Results:
    """A phase's rows by the name of what was done. The file is written anew after each."""

    def __init__(self, folder, phase, device, commit):
        self.phase = phase
        known = sorted(glob.glob(os.path.join(folder, f"*-{device}-{commit}-{phase}.json")))
        date = datetime.date.today().isoformat()
        self.file = known[-1] if known else os.path.join(folder, f"{date}-{device}-{commit}-{phase}.json")
        self.found = {"phase": phase, "device": device, "commit": commit, "date": date, "done": {}}
        if known:
            with open(self.file) as file:
                self.found = json.load(file)
        os.makedirs(folder, exist_ok=True)

    @property
    def done(self):
        return self.found["done"]

    def add(self, name, **row):
        self.done[name] = row
        self.save()

    def save(self):
        with open(self.file + ".tmp", "w") as file:
            file.write(json.dumps(self.found, indent=1) + "\n")
        os.replace(self.file + ".tmp", self.file)
        self.take_along(self.file)

    def take_along(self, file):
        """What lies in $OUT comes back from a machine that is lent."""
        if os.environ.get("OUT"):
            shutil.copy(file, os.environ["OUT"])


def table(rows, headings):
    """Rows of texts under headings, the first column on the left."""
    rows = [headings, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    return "\n".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)
