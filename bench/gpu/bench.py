"""`scripts/bench --gpu`: the workloads on a GPU, or where there is none what the cost model predicts for one. Part of dbc,
under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import argparse
import contextlib
import json
import os
import sys

sys.dont_write_bytecode = True

from prepare import prepare
from run import Times, device_name, print_rows, rows_of
from workloads import BATCHES


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Times emitted kernels on a GPU; without one prints "
                                     "predictions, marked as such. Method and meaning of the figures: bench/README.md.")
    parser.add_argument("--gpu", action="store_true", required=True, help="what this is")
    parser.add_argument("--quick", action="store_true", help="batches 1 and 64")
    parser.add_argument("--workload", metavar="NAME", help="only this one")
    parser.add_argument("--hidden", metavar="N", type=int, default=150, help="hidden size [150]")
    parser.add_argument("--batch", metavar="N", type=int, help=f"inputs a batch [{', '.join(map(str, BATCHES))}]")
    parser.add_argument("--device", metavar="NAME|FILE", default="h100", help="what is predicted, as for dbc report [h100]")
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-", help="write the rows as a JSON array to FILE, or to stdout")
    options = parser.parse_args()
    for name, value in (("--hidden", options.hidden), ("--batch", options.batch)):
        if value is not None and not 1 <= value <= 1 << 16:
            parser.error(f"`{value}` does not fit `{name}`")
    return options


def main():
    options = arguments()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    build = os.environ.get("DBC_BUILD") or os.path.join(root, "build")
    os.environ.setdefault("DBC_DATA", os.path.join(root, "..", "shared", "data"))
    batches = [options.batch] if options.batch else [1, 64] if options.quick else BATCHES
    folder = os.path.join(build, "gpu-bench")
    with contextlib.redirect_stdout(sys.stderr):
        manifest = prepare(root, folder, build, models=[], trained=[], hidden=[options.hidden], batches=batches,
                           workload=options.workload, device=options.device)
        if device_name(on_cpu=False):
            phase = Times(folder, 2, False, os.path.join(folder, "results"), minutes=60, jobs=os.cpu_count())
            phase.run()
            rows = phase.rows()
        else:
            rows = rows_of(manifest, f"{manifest['predictions'][0]['device']} (predicted)", None)
        print_rows(rows)
    if options.json:
        text = "[\n " + ",\n ".join(json.dumps(row) for row in rows) + "\n]\n"
        if options.json == "-":
            sys.stdout.write(text)
        else:
            with open(options.json + ".tmp", "w") as file:
                file.write(text)
            os.replace(options.json + ".tmp", options.json)


if __name__ == "__main__":
    main()
