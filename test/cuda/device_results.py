"""Runs models on a device with results that stay there. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import os
import sys

import on_cpu


def check(model, program, manifest, folder):
    sys.stdout.write(on_cpu.run([program]))
    return ""


sys.exit(on_cpu.each(
    on_cpu.arguments(__doc__).parse_args(),
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "device_results.cpp"),
    check,
))
