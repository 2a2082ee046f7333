#!/usr/bin/env python3
# Mistakes put into the rules of derivatives, one at a time: each rule of an operation, each transpose, each direction. The tests of
# gradients must see each of them, or they prove nothing.
#
# rules.py puts them into the sources, of which dbc-of-mutants is made; $MUTANT chooses one when it runs. A mutant is caught
# where compiling a loss fails, or `dbc verify --mode train` does, by whatever. Where it emits the code that dbc emits there is
# nothing to run: the next model may show it. Fails where less than 98 % are caught, or some rule has no mutant that is.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import argparse
import collections
import concurrent.futures
import functools
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "test", "property"))
from equivalent import EQUIVALENT  # noqa: E402: the folder is in the path now
from model_gradients import SIZES  # noqa: E402
from programs.count import Counts  # noqa: E402
from programs.declarations import Declarations  # noqa: E402
from programs.tree import merged, write_modules  # noqa: E402
from programs.verify import run_within, with_losses  # noqa: E402

# In this order, and of how many losses of which the code is another; the first that catches a mutant ends it.
MODELS = {
    "test/property/gradients.dyn": 15,
    "test/property/input_gradients.dyn": 4,
    "test/property/stored_gradients.dyn": 8,
    "test/property/dropout.dyn": 1,
    "test/models/35_transition_parser.dyn": 1,
    "test/models/44_hm_rnn.dyn": 1,
    "test/models/08_attention_decoder.dyn": 1,
    "test/models/33_graph_attention.dyn": 1,
    "examples/tree_lstm/tree_lstm.dyn": 1,
}
CHECKED = "test/lower/sparse_gradients.dyn"  # which gradients are sparse is in no number: by FileCheck
PROGRAMS, PROGRAM_LOSSES = 3, 3  # drawn at random, behind these
RULES = "Derivatives.cpp"
# What the runtime does is in no emitted code.
RUNTIME = {"DistinctRows.cpp", "Schedule.cpp"}
SHARE = 0.98
# A mutant may loop without end: what a run may take of a processor, and of addresses.
SECONDS = {"compile": 5, "verify": 15, "test": 3}
BYTES = 2 << 30
TRAIN = ["--mode", "train", "--gradient", "all", "--real", "f64"]
VERIFY = [*TRAIN, "-n", "10", "--seed", "3"]


def without_others(text, kept):
    """The model with one of its losses and entries, or with a list of the names of all."""
    hidden = re.sub(r"//[^\n]*", lambda match: "_" * len(match[0]), text)
    names, out, at = [], [], 0
    for match in re.finditer(r"^(loss|entry) +(\w+)\(", hidden, re.M):
        end, depth = hidden.index("{", match.end()), 0
        while True:
            depth += (hidden[end] == "{") - (hidden[end] == "}")
            end += 1
            if depth == 0:
                break
        names += [match[2]] if match[1] == "loss" else []
        if match[2] != kept:
            out.append(text[at : match.start()])
            at = end
    return ("".join([*out, text[at:]]), names)


class Model:
    """A model, whole and with one loss at a time."""

    def __init__(self, suite, name, text, include, dims, most):
        self.most = most
        self.suite, self.name, self.folder, self.dims = suite, name, os.path.join(suite.scratch, name), [f"-I{include}", *dims]
        os.makedirs(self.folder)
        self.file = self.write(name, text)
        self.text, (_, self.losses) = text, without_others(text, None)
        self.fine = {}

    def write(self, name, text):
        path = os.path.join(self.folder, name + ".dyn")
        with open(path, "w") as file:
            file.write(text)
        return path

    @functools.cached_property
    def code(self):
        """What dbc emits."""
        what, code = self.emit(0)
        if what:
            sys.exit(f"{self.name}, as it is, does not compile: {what}")
        return code

    def emit(self, mutant):
        """(how compiling fails, empty if it does not; the code)"""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            what, _ = self.suite.run(mutant, ["compile", self.file, *self.dims, *TRAIN, "--verify-each", "-o", out])
            if what:
                return "compiler", None
            code = ""
            for name in sorted(os.listdir(out)):
                if name.endswith((".cpp", ".h")):
                    with open(os.path.join(out, name)) as file:
                        code += file.read()
            return "", code

    def changed(self, code):
        """The losses of which the code is another; all where none has code of its own that is."""

        def parts(text):
            found, pieces = collections.defaultdict(list), re.split(r"^namespace (\w+)_code \{$", text, flags=re.M)
            for name, part in zip(pieces[1::2], pieces[2::2]):
                found[name].append(part)
            return found

        was, now = parts(self.code), parts(code)
        return [loss for loss in self.losses if was[loss] != now[loss]] or self.losses

    def verify(self, mutant, loss):
        """How `dbc verify` of a loss fails; empty if it does not."""
        path = os.path.join(self.folder, loss + ".dyn")
        if not os.path.exists(path):
            self.write(loss, without_others(self.text, loss)[0])
        return self.suite.run(mutant, ["verify", path, *self.dims, *VERIFY])

    def attempt(self, mutant):
        """(how a mutant is caught, by what); nothing where it is not. None: it changes no code here."""
        if mutant.file in RUNTIME:
            losses = self.losses
        else:
            what, code = self.emit(mutant.number)
            if what:
                return what, self.name
            if code == self.code:
                return None
            losses = self.changed(code)
            losses = losses[:: max(1, -(-len(losses) // self.most))]
        for loss in losses:
            what, _ = self.verify(mutant.number, loss)
            if what:
                if loss not in self.fine: # what catches a mutant must not catch the rules as they are
                    self.fine[loss] = self.verify(0, loss)
                if self.fine[loss][0]:
                    sys.exit(f"{self.name}, {loss}, as it is, fails: {self.fine[loss][1]}")
                return what, f"{self.name}, {loss}"
        return "", ""


class Suite:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.environment = {**os.environ, "CXX": options.cxx, "CXXFLAGS": "-O0", "XDG_CACHE_HOME": scratch}
        with open(options.mutants) as file:
            self.mutants = [collections.namedtuple("Mutant", each)(**each) for each in json.load(file)]

    @functools.cached_property
    def models(self):
        found = []
        for path, most in MODELS.items():
            with open(os.path.join(ROOT, path)) as file:
                text = file.read()
            open_dims = " ".join(re.findall(r"^dim ([^;]*);", text, re.M)).split(",")
            dims = [f"-D{name}={SIZES[name]}" for name in (each.strip() for each in open_dims) if name in SIZES]
            found.append(Model(self, os.path.basename(path)[:-4], text, os.path.dirname(os.path.join(ROOT, path)), dims, most))
        counts = Counts(ROOT)
        programs = [Declarations(number, self.options.seed, counts.tags).program() for number in range(PROGRAMS)]
        text, dims = merged(programs)
        dims = [f"-D{name}={value}" for name, value in dims.items()]
        model = Model(self, "random", with_losses(text), self.scratch, dims, PROGRAM_LOSSES)
        write_modules(model.folder)
        return [*found, model]

    def is_sparse_as_it_should(self, mutant):
        what, said = self.run(mutant, ["compile", os.path.join(ROOT, CHECKED), "--mode", "train", "--emit", "batch"])
        check = [self.options.filecheck, os.path.join(ROOT, CHECKED)]
        return not what and subprocess.run(check, input=said, capture_output=True, text=True).returncode == 0

    def run(self, mutant, arguments):
        """(how dbc fails, empty if it does not; what it says)"""
        return self.run_program(mutant, SECONDS[arguments[0]], [self.options.dbc, *arguments])

    def test_of(self, mutant):
        """The program that tests a source by itself; None if there is none."""
        if mutant.file == RULES:
            return self.options.test
        return self.options.runtime_test if mutant.file in RUNTIME else None

    def run_test(self, mutant, program):
        return self.run_program(mutant, SECONDS["test"], [program])

    def run_program(self, mutant, seconds, command):
        try:
            done = run_within(
                seconds,
                command,
                env={**self.environment, "MUTANT": str(mutant)},
                cwd=self.scratch, # where `dbc verify` leaves what fails
                errors="replace",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
            )
        except subprocess.TimeoutExpired:
            return "too slow", ""
        said = done.stdout + done.stderr
        if "cannot be started" in said:
            sys.exit(said)
        if done.returncode == 0:
            return "", said
        if "of gradients" in said and "FAILED" in said:
            return "number" if "the gradients of" in said else "bits" if "other bits" in said else "value", said
        return "crash" if done.returncode < 0 else "compiler", said

    def attempt(self, mutant):
        """(mutant, how it is caught, by what); no words where it is not. "same": it emits what dbc emits."""
        program = self.test_of(mutant)
        if program and self.run_test(mutant.number, program)[0]:
            return mutant, "GoogleTest", os.path.basename(program)
        if not self.is_sparse_as_it_should(mutant.number):
            return mutant, "FileCheck", CHECKED
        changed = mutant.file in RUNTIME
        for model in self.models[: 2 if changed else None]:
            outcome = model.attempt(mutant)
            if outcome and outcome[0]:
                return mutant, *outcome
            changed |= outcome is not None
        return mutant, "" if changed else "same", ""


def is_of(key, mutant):
    file, rule, change = key
    return re.fullmatch(file, mutant.file) and re.fullmatch(rule, mutant.rule) and re.search(change, f"{mutant.original} -> {mutant.changed}")


def why_equivalent(mutant):
    return next((reason for key, reason in EQUIVALENT.items() if is_of(key, mutant)), None)


def rules_of_operations():
    """The rules that are attached to operations, and their cases."""
    with open(os.path.join(ROOT, "ir", "Dyn", RULES)) as file:
        text = file.read()
    rules = re.findall(r"^  attach<[^;]*?, (of\w+)", text, re.M)
    return {"attachDerivatives", *rules}


def results(pool, suite, mutants):
    """Of each as it comes; what goes wrong ends all."""
    try:
        yield from pool.map(suite.attempt, mutants)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def described(mutant):
    return f"{mutant.number}, {mutant.file}, {mutant.rule}, line {mutant.line}: {mutant.original} -> {mutant.changed}"


def main():
    parser = argparse.ArgumentParser(description="mistakes in the rules of derivatives through dbc verify")
    parser.add_argument("--dbc", type=os.path.abspath, required=True, help="dbc-of-mutants")
    parser.add_argument("--test", type=os.path.abspath, required=True, help="dbc-oracle-test-of-mutants")
    parser.add_argument("--runtime-test", type=os.path.abspath, required=True, help="dbc-runtime-tests-of-mutants")
    parser.add_argument("--filecheck", required=True, help="LLVM's FileCheck")
    parser.add_argument("--mutants", required=True, help="mutants.json of rules.py")
    parser.add_argument("--sample", type=int, help="so many, none listed as equivalent; without it all")
    parser.add_argument("--seed", type=int, default=1, help="of what is sampled, and of random programs")
    parser.add_argument("--numbers", type=int, nargs="+", help="only mutants of these numbers")
    parser.add_argument("--files", nargs="+", help="only mutants of these sources")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"), help="the C++ compiler")
    parser.add_argument("--verbose", action="store_true", help="tell of each mutant")
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dbc-mutants-") as scratch:
        suite = Suite(options, scratch)
        chosen = suite.mutants
        if stale := [key for key in EQUIVALENT if not any(is_of(key, mutant) for mutant in chosen)]:
            sys.exit("equivalent.py names what no mutant is: " + ", ".join(map(str, stale)))
        if options.numbers:
            chosen = [mutant for mutant in chosen if mutant.number in options.numbers]
        if options.files:
            chosen = [mutant for mutant in chosen if mutant.file in options.files]
        if options.sample is not None:
            chosen = [mutant for mutant in chosen if not why_equivalent(mutant)]
            chosen = sorted(random.Random(options.seed).sample(chosen, min(options.sample, len(chosen))))
        tests = [options.test, options.runtime_test]
        if any(suite.run_test(0, test)[0] for test in tests) or not suite.is_sparse_as_it_should(0):
            sys.exit("the rules as they are fail")
        suite.models # made once
        for model in suite.models:
            model.code
        counts, survivors, rules = collections.Counter(), [], collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for mutant, what, by in results(pool, suite, chosen):
                caught = what not in ("", "same")
                if options.verbose:
                    print(f"  {described(mutant)}: {f'{what} ({by})' if caught else 'NOT CAUGHT ' + what}", flush=True)
                counts[what] += caught
                rules[mutant.rule.split()[0]] += caught
                if not caught:
                    survivors.append((mutant, what, why_equivalent(mutant)))
    equal = sum(reason is not None for _, _, reason in survivors)
    of, missed = len(chosen) - equal, len(survivors) - equal
    how = ", ".join(f"{count} by {what}" for what, count in sorted(counts.items()) if count)
    print(f"{of - missed}/{of} caught ({how}), {equal} equivalent, {round(time.monotonic() - start)} s")
    reasons = collections.Counter(reason for _, _, reason in survivors if reason)
    for reason, count in reasons.most_common():
        print(f"  {count} equivalent: {reason}")
    for mutant, what, reason in survivors:
        if not reason:
            print(f"  SURVIVES{' (same code)' * (what == 'same')}: {described(mutant)}")
    unproven = sorted(rule for rule in rules_of_operations() if not rules[rule])
    if unproven and len(chosen) == len(suite.mutants):
        print(f"no mutant is caught of {', '.join(unproven)}")
        return 1
    return 0 if of - missed >= SHARE * of else 1


if __name__ == "__main__":
    sys.exit(main())
