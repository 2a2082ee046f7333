"""Evaluates the memory formula of a manifest and compares it with what a run says. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import argparse
import json
import re
import sys


def array_bytes(array, counts):
    """The most that any of the counts asks for. Counts: {"rows encode": 5, "time_steps encode": 3, "inputs": 1, ..}."""
    most = 0
    for term in array["largest"]:
        kind, of = term["count"], term.get("of", "")
        key = " ".join(filter(None, ["rows" if kind == "blocks" else kind, of, str(term.get("level", ""))]))
        count = 1 if kind == "sub_batch" else counts[key]
        if kind == "time_steps":
            count = count * counts["block_groups"] + 1
        if kind == "blocks":
            count = min(max(-(-count // term["rows"]) * term["tiles"], 1), term["most"])
        most = max(most, count * term["bytes"])
    return most


def needed(manifest, entry, counts):
    """The bytes of a batch."""
    memory = manifest["device_memory"]
    line = memory["line"]
    return memory["fixed_bytes"] + sum(-(-array_bytes(array, counts) // line) * line for array in entry["device_arrays"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--entry", required=True)
    parser.add_argument("--said", required=True, help="what `dbc run --profile` printed")
    parser.add_argument("counts", nargs="+", help="such as 'rows encode=5'")
    options = parser.parse_args()
    with open(options.manifest, encoding="utf-8") as file:
        manifest = json.load(file)
    with open(options.said, encoding="utf-8") as file:
        said = r"memory of the device: (\d+) bytes of the model; (\d+) bytes of the last batch; block groups: (\d+)"
        model, batch, block_groups = map(int, re.search(said, file.read()).groups())
    memory = manifest["device_memory"]
    (entry,) = (entry for entry in manifest["entries"] if entry["name"] == options.entry)
    counts = {name: int(count) for name, count in (each.rsplit("=", 1) for each in options.counts)}
    counts["block_groups"] = max(block_groups, 1)
    formula = needed(manifest, entry, counts)
    print(f"model {memory['model_bytes']}, batch {formula}")
    if (memory["model_bytes"], formula) != (model, batch):
        print(f"but the run says {model} and {batch}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
