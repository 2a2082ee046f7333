"""Verifies models on a device that the CPU stands in for. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import argparse
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dbc", required=True)
    parser.add_argument("-n", default="4", help="inputs of each entry")
    parser.add_argument("--seeds", type=int, default=1, help="interleavings")
    parser.add_argument("--math", default="f32", help="how matrices are multiplied: f32 or tf32")
    parser.add_argument("--blas", default="never", help="which products cuBLAS computes: never, auto or always")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    failed = 0
    for model in options.models:
        for seed in range(options.seeds):
            command = [options.dbc, "verify", model, "-n", options.n, "--seed", str(seed + 1), "--target", "cuda-on-cpu"]
            command += ["--gpu-math", options.math, "--gpu-blas", options.blas]
            environment = {**os.environ, "DBC_SHIM_SEED": str(seed)}
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                failed += 1
                print(f"{os.path.basename(model)}, seed {seed}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{len(options.models)} models, {failed} failures")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
