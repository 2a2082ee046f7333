"""Says of each model whether its loops over levels or steps are one launch each on a device, and why some are not. Part of dbc,
under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import argparse
import json
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dbc", required=True)
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    counts = {"all": 0, "some": 0, "none": 0}
    for model in options.models:
        command = [options.dbc, "report", model, "--target", "cuda", "--json"]
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        launches = {kernel["launch"] for entry in report["device"] for kernel in entry["kernels"]} - {"once"}
        others = sorted(launch for launch in launches if not launch.startswith("in a persistent kernel"))
        how = "all" if launches and not others else "some" if len(launches) > len(others) else "none"
        counts[how] += 1
        if how != "all":
            print(f"{os.path.basename(model)}: {how}; {'; '.join(others) or 'it has no loop'}")
    print(f"{len(options.models)} models: of {counts['all']} all loops are one launch, of {counts['some']} some")


if __name__ == "__main__":
    sys.exit(main())
