#!/usr/bin/env python3
# Draws random well-typed programs and puts them, several to a translation unit, through `dbc verify`: compiled code against
# the oracle, on random structures and in several batchings. A failure is cut down and printed with what draws it again.
#
# The run fails if a program fails, if the checker refuses one, if the median structure has fewer than 20 nodes, or if a
# construct of the language, an alternative of its grammar or a built-in function occurred too rarely, in runs of 100 programs and
# more: fewer than once in 100 programs, or fewer than 5 times. Programs of nothing but tensors (--tensors) have no structures;
# they are compiled with optimisation, for what compilers make of loops.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import argparse
import collections
import concurrent.futures
import json
import os
import random
import statistics
import sys
import time

from programs import count
from programs.declarations import Declarations
from programs.shrink import shrink
from programs.tree import merged, tidy
from programs.verify import Dbc


def main():
    parser = argparse.ArgumentParser(description="random programs through dbc verify")
    parser.add_argument("--dbc", required=True, help="the compiler")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, help="another one every time unless given")
    parser.add_argument("--from", dest="first", type=int, default=0, help="without the first so many, where a run was cut off")
    parser.add_argument("--only", type=int, help="of these programs, only the one with this number")
    parser.add_argument("--unit", type=int, default=10, help="programs to a translation unit")
    parser.add_argument("--structures", type=int, default=20, help="random inputs an entry")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--flags", default="-O0 -Wall -Wextra -Werror", help="CXXFLAGS of the compiled models")
    parser.add_argument("--target", default="cpu", help="what compiled code runs on, as `dbc verify --target`")
    parser.add_argument("--mode", default="infer", help="train: gradients too, of entries made losses")
    parser.add_argument("--orders", type=int, default=1, help="interleavings, where the CPU stands in for a device")
    parser.add_argument("--tries", type=int, default=200, help="how many smaller programs are tried for a failure")
    parser.add_argument("--tensors", action="store_true", help="programs of nothing but tensors")
    parser.add_argument("--show", action="store_true", help="print the programs and stop")
    parser.add_argument("--keep", help="write failures into this folder")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}, {options.programs} programs", flush=True)

    counts, programs = count.Counts(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")), []
    for number in range(options.programs):
        drawn = Declarations(number, seed, counts.tags)
        programs.append(drawn.tensor_program() if options.tensors else drawn.program())
        counts.add(programs[-1])
    programs = programs[options.first :] if options.only is None else [programs[options.only]]
    if options.show:
        for program in programs:
            print(f"// program {program.number} of seed {seed}\n" + tidy(merged([program])[0]))
        return 0

    dbc = Dbc(options.dbc, options.structures, seed % 1000, options.flags, options.target, options.orders, options.mode)
    units = [programs[at : at + options.unit] for at in range(0, len(programs), options.unit)]
    verdicts, medians, seen = collections.Counter(), [], set()

    def report(programs, outcome):
        """One failure, cut down; of failures alike only the first."""
        names = ", ".join(str(program.number) for program in programs)
        print(f"program {names} is {outcome.what}: {outcome.text[:600].rstrip()}", flush=True)
        signature = outcome.signature()
        if signature in seen or outcome.what == "unfit":
            return
        seen.add(signature)
        small = shrink(programs, lambda candidate: dbc.verify(candidate).signature() == signature, options.tries)
        text, dims = merged(small)
        print(f"program {names}, cut down:\n{tidy(text)}")
        again = dbc.verify(small)
        print(again.text[:1500])
        print(f"again: DBC_SHIM_SEED={again.order} dbc verify random.dyn {' '.join(dbc.arguments(dims))}")
        print(
            f"whole: random_programs.py --dbc {options.dbc} --seed {seed} --programs {options.programs} --only {names}"
            f" --structures {options.structures} --target {options.target} --orders {options.orders} --mode {options.mode}{' --tensors' * options.tensors}",
            flush=True,
        )
        if options.keep:
            with open(os.path.join(options.keep, f"seed{seed}-{names.split(',')[0]}.dyn"), "w") as file:
                file.write(
                    f"// {outcome.what}: dbc verify {' '.join(dbc.arguments(dims))}\n// {signature}\n{tidy(text)}"
                )

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for unit, outcome in zip(units, pool.map(dbc.verify, units)):
            if outcome.what == "fine":
                verdicts["fine"] += len(unit)
                medians += outcome.medians
                continue
            alone = [(program, dbc.verify([program])) for program in unit]
            for program, each in alone:
                verdicts[each.what] += 1
                medians += each.medians
                if each.what != "fine":
                    report([program], each)
            if outcome.what != "unfit" and all(each.what == "fine" for _, each in alone):
                verdicts["failure"] += 1
                report(unit, outcome)
    median = statistics.median(medians) if medians else 0
    print(
        json.dumps(
            {
                "seed": seed,
                "programs": len(programs),
                **verdicts,
                "median nodes": median,
                "seconds": round(time.monotonic() - start),
            }
        )
    )
    if options.tensors:
        rare = counts.tensors(len(programs)) if len(programs) >= 10 else []
    else:
        rare = counts.table(max(5, options.programs // 100)) if options.programs >= 100 else []
    bad = [f"{verdicts[what]} programs are {what}" for what in ("failure", "refused") if verdicts[what]]
    if verdicts["unfit"] > 0.02 * len(programs):
        bad.append("too many programs are unfit")
    if median < 20 and not options.tensors:
        bad.append(f"the median structure has {median} nodes, fewer than 20")
    bad += rare
    print("FAILED: " + "; ".join(bad) if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
