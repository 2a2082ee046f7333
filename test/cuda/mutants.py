#!/usr/bin/env python3
# Mistakes put into emitted kernels, one at a time: a barrier or a wait for elements less, or an index that is one too large. `dbc verify` on
# the CPU must see each of them, or the tests of kernels prove nothing.
#
# A model is compiled once: its .cu gets all its mutants, and $MUTANT chooses one when it runs. To that end $CXX is this
# script, which rewrites the .cu on its command line and hands over to the real compiler. A mutant is caught where
# `dbc verify` fails, by whatever, with one of a few schedules of threads. Fails where less than 95 % are caught.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "test", "property"))
from programs.verify import run_within  # noqa: E402: the folder is in the path now

# Tiles of a product; sums over lists; tables of matrices; operands of two index sets; a while, runtime errors, attention.
MODELS = ["13_treefc", "16_child_sum_tree_lstm", "29_lattice_lstm", "32_ggnn", "40_berxit"]
RUNS = [("1", 12), ("2", 40), ("3", 120)]  # DBC_SHIM_SEED, inputs; the first that fails decides
SHARE = 0.95
SECONDS = 60  # of a processor that a run may take

# Mutants that change no result: (model, stage, line), each a pattern -> why.
SAME_THREAD = "a row, or a number of one, has the same thread on both sides"
SOFTMAX = "softmax or logsumexp less any of the numbers, not the largest, is the same but for rounding"
EQUIVALENT = {
    (".*", ".*", r"__syncthreads\(\); between rows(, rows)* and rows(, rows)*"): SAME_THREAD,
    ("29_.*|32_.*", "stage_state_.*", r"__syncthreads\(\); between product_of_tables and elements of .*"): SAME_THREAD,
    ("32_ggnn", "stage_input_map", r"__syncthreads\(\); between elements of count and rows"): SAME_THREAD,
    ("16_.*|29_.*|32_.*|40_.*", "stage_input.*", r"__syncthreads\(\); between rows and nothing"): SAME_THREAD,
    (
        "13_.*|29_.*",
        "stage_encode_Node|stage_state_steps.*",
        r"__syncthreads\(\); between elements of 16 and nothing",
    ): "a block's next rows are written where nobody reads those before, and its next numbers behind the next barrier",
    (
        ".*",
        "(levels|steps)_.*",
        r"__syncthreads\(\); between nothing and .*",
    ): "what is resident is there for all; the first stage has a barrier of its own before its product",
    (".*", "(levels|steps)_.*", r"block_group\.begins\(.*"): "it says where a block waits that waits without end",
    (".*", ".*", r"(const )?real (largest|sum|best) = \w+\[.*\];"): SOFTMAX,
    ("40_berxit", "stage_input", r"real x\d+ = product_i\[0\];"): SOFTMAX,
    (
        "16_child_sum_tree_lstm",
        "stage_encode_xf",
        r"const int32_t n = first \+ i;",
    ): "all rows but the first, which is a leaf: its forget gate is of no child",
    ("40_berxit", "stage_input_x_n", r"dbc::cuda::record_error\(.*"): "there are not so many layers",
    ("40_berxit", "stage_input_x_else_.*", ".*"): "about the last layer, which has none behind it",
    ("40_berxit", "stage_input", r"x_i\[j \* 8 \+ k\] = 0\.0f;|x2\[i\] = 0;"): "there is an error, and no result",
}

Mutant = collections.namedtuple("Mutant", "number entry stage position kind line changed")

# A block group that does not wait for elements where a mutant is chosen.
NOT_WAITING = """
template <class BlockGroup> struct DbcMutantBlockGroup : BlockGroup {
  bool waits;
  template <class T> T read(const T &x) const { return waits ? BlockGroup::read(x) : x; }
  template <int kCount, class Again> void wait_for_elements(const float (&elements)[kCount], Again again) const {
    if (waits)
      BlockGroup::wait_for_elements(elements, again);
  }
};
template <class BlockGroup> DbcMutantBlockGroup<BlockGroup> dbc_mutant_block_group(const BlockGroup &block_group, bool waits) { return {block_group, waits}; }
"""
# What does not wait then: the group.
WAITS = [re.compile(r"segment\(.*, (block_group)\)"), re.compile(r"\b(block_group)\.read\(")]

# What is increased: the group. Beside these, all that stands in brackets behind a name.
INDICES = [
    re.compile(r"\b(first\w* \+ \w+)"),  # a row
    re.compile(r"const int32_t \w+ = (\w+ \+ \w+);"),
    re.compile(r"int64_t\((\w+)\) \*"),
    re.compile(r"\*\w+ = \w+ \+ (\w+)(?: \* \d+)?;"),
    re.compile(r"segment\(\w+, (?!nullptr)(\w+),"),  # an operand's list of rows
    re.compile(r"segment\((\w+), nullptr,"),
    re.compile(r"(work\w*\.item\(\))"),
    re.compile(r"= (work\w*\.tile\(\));"),
    re.compile(r"product_of_tables\(count, (\w+),"),
]
FUNCTION = re.compile(r"\b(?!launch_|record_)(\w+)\(const Arrays (?:&?arrays|\*given)\b")
BARRIER = re.compile(r"(__syncthreads\(\);|dbc::cuda::wait_for_copies\(\);|block_group\.wait\(\);)$")
PHASE = re.compile(
    r"int32_t (?:(i)|element) = threadIdx\.x(?: / (dbc::cuda::kWarp))?(?:; element < (?:count \* )?(\w+))?"
    r"|\b(product\w*(?=<\w+>\())|dbc::cuda::(product\w*|multiply)\(|^\s*(stage_\w+)\(arrays,"
)
DECLARATION = re.compile(r"^\s*(const )?\w+ \w+\[\d+\];")


def brackets(line):
    """Where the insides of brackets behind names begin and end."""
    spans, open_ = [], []
    for at, letter in enumerate(line):
        if letter == "[":
            open_.append(at)
        elif letter == "]":
            begin = open_.pop()
            if re.match(r"\w", line[begin - 1 : begin]):
                spans.append((begin + 1, at))
    return spans


def indices(line):
    if "for (" in line or "//" in line or DECLARATION.match(line):
        return []
    return sorted({*brackets(line), *(match.span(1) for index in INDICES for match in index.finditer(line))})


def phases(lines, number, step):
    """What threads do between the barrier in a line and the next one, or the one before: tells barriers apart."""
    found, number = [], number + step
    while not (BARRIER.search(lines[number]) or FUNCTION.search(lines[number]) or lines[number].startswith("}")):
        if match := PHASE.search(lines[number]):
            mapped = "rows of warps" if match[2] else "rows" if match[1] else f"elements of {match[3]}"
            found.append(match[4] or match[5] or mapped)
        number += step
    return ", ".join(found[::step]) or "nothing"


def instrument(text):
    """The text with all its mutants, and these."""
    lines, mutants, entry, stage = text.split("\n"), [], "", ""
    for number, line in enumerate(lines):
        if match := re.match(r"namespace (?:(\w+)_code|common\d*) \{", line):
            entry = match[1]  # None: several entries run it
        elif match := FUNCTION.search(line):
            stage = match[1]
        elif line == "}":
            stage = ""
        if not stage:
            continue
        if match := BARRIER.search(line):
            where = f"{match[1]} between {phases(lines, number, -1)} and {phases(lines, number, 1)}"
            mutants.append(Mutant(len(mutants) + 1, entry, stage, number + 1, "barrier", where, "removed"))
            lines[number] = f"if (dbc_mutant != {len(mutants)}) {match[1]}"
            continue
        insertions = []
        for match in (match for wait in WAITS for match in wait.finditer(line)):
            mutants.append(Mutant(len(mutants) + 1, entry, stage, number + 1, "wait", line.strip(), "does not wait"))
            insertions += [(match.start(1), 0, "dbc_mutant_block_group("), (match.end(1), -1, f", dbc_mutant != {len(mutants)})")]
        for begin, end in indices(line):
            larger = f"{line[begin:end]} + 1" if line[end] in "],;" else f"({line[begin:end]} + 1)"
            changed = (line[:begin] + larger + line[end:]).strip()
            mutants.append(Mutant(len(mutants) + 1, entry, stage, number + 1, "index", line.strip(), changed))
            insertions += [(begin, 0, "(("), (end, -begin, f") + (dbc_mutant == {len(mutants)}))")]
        for at, _, inserted in sorted(insertions, key=lambda it: it[:2], reverse=True):
            lines[number] = lines[number][:at] + inserted + lines[number][at:]
    chosen = 'static const int dbc_mutant = std::getenv("MUTANT") ? std::atoi(std::getenv("MUTANT")) : 0;'
    last = max(number for number, line in enumerate(lines) if line.startswith("#include"))
    return "\n".join(["#include <cstdlib>", chosen, *lines[: last + 1], NOT_WAITING, *lines[last + 1 :]]), mutants


def compile_mutants(command):
    """As $CXX: what compiles kernels compiles them with all their mutants."""
    for path in (word for word in command if word.endswith(".cu")):
        with open(path) as file:
            text, mutants = instrument(file.read())
        with open(path, "w") as file:
            file.write(text)
        with open(os.environ["MUTANTS"], "w") as file:
            json.dump(mutants, file)
    os.execvp(command[0], command)


class Model:
    """A model's kernels, with all their mutants."""

    def __init__(self, options, name, scratch):
        self.options, self.name, self.scratch = options, name, scratch
        found = os.path.join(scratch, name + ".json")
        self.environment = {
            **os.environ,
            "CXX": f"{sys.executable} {os.path.abspath(__file__)} --compile {options.cxx}",
            "CXXFLAGS": "-O1",
            "XDG_CACHE_HOME": scratch,
            "MUTANTS": found,
        }
        self.check_original(0)
        with open(found) as file:
            self.mutants = [Mutant(*mutant) for mutant in json.load(file)]

    def check_original(self, number):
        """What catches a mutant must not catch the model as it is."""
        what, said = self.run(0, None, *RUNS[number])
        if what:
            sys.exit(f"{self.name}, as it is, fails ({what}):\n{said}")

    def run(self, number, entry, schedule, inputs):
        """(how `dbc verify` fails, empty if it does not; what it says)"""
        command = [self.options.dbc, "verify", os.path.join(self.options.models, self.name + ".dyn")]
        command += ["-n", str(inputs), "--seed", "1", "--target", "cuda-on-cpu"]
        command += ["--entry", entry] if entry else []
        environment = {**self.environment, "MUTANT": str(number), "DBC_SHIM_SEED": schedule}
        try:
            done = run_within(
                SECONDS,
                command,
                env=environment,
                cwd=self.scratch,  # where `dbc verify` leaves what fails
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return "too slow", ""
        said = done.stdout + done.stderr
        if "does not compile" in said or "cannot be started" in said:
            sys.exit(f"{self.name}: {said}")
        if done.returncode < 0:
            return "crash", said
        if done.returncode > 0:
            return "threads" if re.search(r"threads? of a (block|kernel)", said) else "mismatch", said
        return "", said

    def attempt(self, mutant):
        """(mutant, how it is caught, by which run); no words where it is not."""
        for number, (schedule, inputs) in enumerate(RUNS):
            what, _ = self.run(mutant.number, mutant.entry, schedule, inputs)
            if what:
                return mutant, what, number
        return mutant, "", None

    def why_equivalent(self, mutant):
        for (model, stage, line), reason in EQUIVALENT.items():
            if re.fullmatch(model, self.name) and re.fullmatch(stage, mutant.stage) and re.fullmatch(line, mutant.line):
                return reason
        return None


def described(mutant):
    where = f"{mutant.number}, {mutant.entry or 'several entries'}, {mutant.stage}, line {mutant.position}"
    return f"{where}: {mutant.line} -> {mutant.changed}"


def main():
    if sys.argv[1:2] == ["--compile"]:
        return compile_mutants(sys.argv[2:])
    parser = argparse.ArgumentParser(description="mistakes in emitted kernels through dbc verify")
    parser.add_argument("--dbc", required=True)
    parser.add_argument("--models", default=os.path.join(ROOT, "test", "models"), help="the folder of the models")
    parser.add_argument("--only", nargs="+", help="only models of these names")
    parser.add_argument("--sample", type=int, help="so many of each model, none listed as equivalent; without it all")
    parser.add_argument("--seed", type=int, default=1, help="of what is sampled")
    parser.add_argument("--numbers", type=int, nargs="+", help="only mutants of these numbers")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"), help="the C++ compiler")
    parser.add_argument("--verbose", action="store_true", help="tell of each mutant")
    options = parser.parse_args()
    start, caught, total = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="dbc-cuda-mutants-") as scratch:
        for name in options.only or MODELS:
            model = Model(options, name, scratch)
            chosen = model.mutants
            if options.numbers:
                chosen = [mutant for mutant in chosen if mutant.number in options.numbers]
            if options.sample is not None:
                chosen = [mutant for mutant in chosen if not model.why_equivalent(mutant)]
                chosen = random.Random(f"{options.seed}/{name}").sample(chosen, min(options.sample, len(chosen)))
            counts, used, survivors = collections.Counter(), set(), []
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                for mutant, what, number in pool.map(model.attempt, sorted(chosen)):
                    counts[what] += 1
                    used.add(number)
                    if options.verbose:
                        print(f"  {described(mutant)}: {what or 'NOT CAUGHT'}", flush=True)
                    if not what:
                        survivors.append((mutant, model.why_equivalent(mutant)))
            for number in used - {None, 0}:
                model.check_original(number)
            equal = sum(reason is not None for _, reason in survivors)
            of, missed = len(chosen) - equal, len(survivors) - equal
            caught, total = caught + of - missed, total + of
            how = ", ".join(f"{count} by {what}" for what, count in sorted(counts.items()) if what)
            print(f"{name}: {of - missed}/{of} caught ({how}), {equal} equivalent", flush=True)
            for mutant, reason in survivors:
                print(f"  {'equivalent' if reason else 'SURVIVES'}: {described(mutant)}" + (f"; {reason}" if reason else ""))
    print(f"{round(time.monotonic() - start)} s")
    print(f"caught {caught} of {total}")
    return 0 if caught >= SHARE * total else 1


if __name__ == "__main__":
    sys.exit(main())
