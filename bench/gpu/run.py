"""The phases of `scripts/gpu-check run`: they build what they need of a prepared folder and run it on the GPU. Part of dbc,
under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from results import Results, measure_error, table

ERROR, SPREAD = 1e-4, 0.02  # of results, and of how far they are from each other
TRAINED_ERROR = 1e-3  # of gradients, and of weights after the steps
REPEATS, REPEATS_ON_CPU = 1000, 3
# Behind some 100 steps of Adam gradients of a few inputs are rounding, and weights go where that leads, on the CPU too.
STEPS, STEPS_ON_CPU = 50, 6
SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")
SECONDS = 0.4  # of a path of a case
MOST_SECONDS = 120  # of a program
PROFILED = ("tree_lstm-150", 64)  # whose stages the table has; the results have all


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def device_name(on_cpu):
    if on_cpu:
        return "cpu"
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
        found = re.search(r"\b(?:NVIDIA )?([A-Z]+\d+\w*)", done.stdout)
        return found[1].lower() if found else None
    except OSError:
        return None


class Phase:
    def __init__(self, folder, number, on_cpu, results, minutes, jobs, built=False):
        self.folder, self.number, self.on_cpu, self.jobs = os.path.abspath(folder), number, on_cpu, jobs
        self.built = built
        self.end = time.monotonic() + 60 * minutes
        with open(os.path.join(self.folder, "manifest.json")) as file:
            self.manifest = json.load(file)
        if "commit" not in self.manifest:
            raise SystemExit(f"gpu-check: {folder} is not whole; prepare it again")
        self.device = device_name(on_cpu)
        if self.device is None:
            raise SystemExit("gpu-check: there is no GPU here: nvidia-smi names none; --on-cpu checks without one")
        self.results = Results(results, str(number), self.device, self.manifest["commit"])
        # Beside the folder, which is to travel as it was prepared.
        self.build_folder = self.folder + ("-on-cpu" if on_cpu else "-on-gpu")

    def time_left(self):
        return time.monotonic() < self.end

    def program(self, name):
        return os.path.join(self.build_folder, "bin", name)

    def build(self):
        """What does not build is missed later, by its name; the rest goes on."""
        if self.built:
            return
        start = time.monotonic()
        ninja = shutil.which("ninja")
        configure = ["cmake", "-S", self.folder, "-B", self.build_folder, *(["-G", "Ninja"] if ninja else []),
                     f"-DDBC_ON_CPU={'ON' if self.on_cpu else 'OFF'}"]
        # nvcc is often beside the PATH.
        nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        environment = {**os.environ, **({"CUDACXX": nvcc} if nvcc else {})}
        os.makedirs(self.build_folder, exist_ok=True)
        log_name = os.path.join(self.build_folder, f"build-{self.number}.log")
        with open(log_name, "w") as log:
            wrong = subprocess.run(configure, stdout=log, stderr=log, env=environment).returncode
            if not wrong:
                subprocess.run(["cmake", "--build", self.build_folder, "--target", f"phase{self.number}", "-j", str(self.jobs),
                                "--", *(["-k", "0"] if ninja else ["-k"])], stdout=log, stderr=log)
        self.results.take_along(log_name)
        if wrong:
            with open(log_name) as log:
                raise SystemExit(f"gpu-check: cmake failed:\n{log.read()}")
        say(f"built in {time.monotonic() - start:.0f} s")

    def do(self, name, work):
        """One thing, unless it was done before or there is no time left; what it gives is a row."""
        before = self.results.done.get(name)
        if before is not None and not before.get("failed"):
            return
        if not self.time_left():
            say(f"{name}: no time left; run the phase again")
            return
        start = time.monotonic()
        try:
            row = work()
        except Exception as error:  # a row of its own: the others go on
            row = {"failed": str(error)}
        self.results.add(name, seconds=round(time.monotonic() - start, 2), **row)
        say(name + ":", row.get("failed") or row.get("skipped") or "done")

    def call(self, command, fine=(0,), **options):
        """Runs a program that prints one line of JSON. One that hangs does not take the others' time."""
        if not os.path.exists(command[0]):
            raise RuntimeError(f"{os.path.basename(command[0])} was not built, see build-{self.number}.log")
        limit = min(MOST_SECONDS, max(5, self.end - time.monotonic()))
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, **options)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"did not end in {limit:.0f} s") from None
        if done.returncode not in fine:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def path(self, *names):
        return os.path.join(self.folder, *names)


class Correctness(Phase):
    """Phase 1: are results those of the oracle, always the same bits; and the constants of the cost model."""

    def run(self):
        self.build()
        if not self.on_cpu:
            self.do("constants", self.constants)
        for check in self.manifest["checks"]:
            self.do(check["name"], lambda: self.check(check))
        for training in self.manifest["trainings"]:
            self.do(training["name"], lambda: self.train(training))
        if not self.on_cpu:
            for check in self.manifest["checks"]:
                if check["sanitize"]:
                    for tool in SANITIZERS:
                        self.do(f"{check['name']} {tool}", lambda: self.sanitize(check, tool))

    def check(self, check):
        if self.on_cpu and check["large"]:
            return {"skipped": "it is too large for the CPU"}
        inputs, expected = (self.path("checks", check["name"] + ending) for ending in (".jsonl", ".expected"))
        repeats = REPEATS_ON_CPU if self.on_cpu else REPEATS
        with tempfile.NamedTemporaryFile("r") as out:
            row = self.call([self.program("check-" + check["model"]), check["entry"], inputs, out.name, str(repeats)],
                            fine=(0, 3))
            with open(expected) as file:
                found = [measure_error(json.loads(a), json.loads(b)) for a, b in zip(out, file, strict=True)]
        row["max_error"] = max(error for error, _, _ in found)
        # Drawn weights may make results that are all nearly equal, where a small error is a mistake.
        spread = max(most for _, most, _ in found) - min(least for _, _, least in found)
        wrong = []
        if not row["max_error"] <= min(ERROR, 1e-6 + SPREAD * spread if spread else ERROR):
            wrong.append(f"error {row['max_error']:.2g}")
        return self.judged(row, wrong)

    def train(self, training):
        """Gradients and steps of an optimizer, beside the CPU's."""
        if self.on_cpu and training["large"]:
            return {"skipped": "it is too large for the CPU"}
        row = self.call([self.program("train-" + training["model"]), training["loss"],
                         self.path("checks", training["model"] + ".jsonl"), str(STEPS_ON_CPU if self.on_cpu else STEPS)],
                        fine=(0, 3))
        wrong = [f"error {row[of]:.2g} of {what}" for of, what in (("max_error", "gradients"), ("weights_error", "weights"))
                 if of in row and not row[of] <= TRAINED_ERROR]
        return self.judged(row, wrong)

    @staticmethod
    def judged(row, wrong):
        """A row with what is wrong with it: that bits differ, too."""
        wrong = row["differences"][:3] + wrong
        if row["different"]:
            wrong.append(f"{row['different']} of {row['repeats']} repetitions differ")
        return {**row, **({"failed": "; ".join(wrong)} if wrong else {})}

    def constants(self):
        """Measures them, and writes them as `dbc report --device` reads them."""
        found = self.call([self.program("micro")])
        name = self.device if os.path.exists(self.path("devices", self.device + ".json")) else self.manifest["device"]
        with open(self.path("devices", name + ".json")) as file:
            device = json.load(file)
        device["device"] = self.device
        device["about"] = f"Measured by scripts/gpu-check on {self.results.found['date']}, {self.manifest['commit']}."
        for key, value in found.items():
            before = device["constants"].get(key, {})
            device["constants"][key] = {"value": value, "measured": True, "note": before.get("note", ""),
                                        "before": before.get("value")}
        file_name = os.path.join(os.path.dirname(self.results.file),
                                 f"{self.results.found['date']}-{self.device}-{self.manifest['commit']}-constants.json")
        with open(file_name, "w") as file:
            file.write(json.dumps(device, indent=1) + "\n")
        self.results.take_along(file_name)
        return {"constants": found, "file": os.path.basename(file_name)}

    def sanitize(self, check, tool):
        """A tenth of the inputs, once: under these tools a program is many times slower."""
        program = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
        if program is None:
            return {"skipped": "there is no compute-sanitizer"}
        with tempfile.TemporaryDirectory() as folder:
            some = os.path.join(folder, "some.jsonl")
            with open(self.path("checks", check["name"] + ".jsonl")) as file, open(some, "w") as to:
                to.writelines(line for line, _ in zip(file, range(3)))
            command = [program, "--tool", tool, "--error-exitcode", "9", self.program("check-" + check["model"]),
                       check["entry"], some, os.path.join(folder, "out"), "1"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=90)
            except subprocess.TimeoutExpired:
                return {"skipped": "it did not end in 90 s"}
        words = done.stdout + done.stderr
        if "not supported" in words or "error 999" in words:
            return {"skipped": "compute-sanitizer does not run here: " + words.strip().splitlines()[-1][:200]}
        return {} if done.returncode == 0 else {"failed": words.strip()[-500:]}

    def print(self):
        rows, constants = [], self.results.done.get("constants", {}).get("constants", {})
        for name, row in self.results.done.items():
            if name == "constants":
                continue
            compared = f"{row['compared']} x {row['inputs']}" if "compared" in row else ""
            rows.append([name, compared, f"{row['max_error']:.1e}" if "max_error" in row else "", row.get("repeats", ""),
                         ("FAILED " + row["failed"][:60]) if row.get("failed") else "skipped" if row.get("skipped") else "fine"])
        print(table(rows, ["case", "compared", "error", "repeats", "outcome"]))
        trained = [[name, row["steps"], f"{row['weights_error']:.1e}", f"{row['step_us']:.0f}", f"{row['cpu_step_us']:.0f}"]
                   for name, row in self.results.done.items() if "steps" in row]
        if trained:
            print(table(trained, ["training", "steps", "error of weights", "us a step", "on the CPU"]))
        if constants:
            print(table([[name, f"{value:.4g}"] for name, value in constants.items()], ["constant", "measured"]))


class Times(Phase):
    """Phase 2: how long batches take, beside cuBLAS and PyTorch, and where the time goes."""

    TORCH = "torch_levels.py"

    def run(self):
        if self.on_cpu:
            raise SystemExit("gpu-check: phase 2 measures times: it has no meaning on the CPU")
        self.build()
        # The most wanted first.
        order = sorted(self.manifest["times"], key=lambda case: (case["workload"] != "tree_lstm", case["hidden"]))
        for case in order:
            for batch in case["batches"]:
                at = f"{case['model']} batch {batch}"
                self.do(at, lambda: self.time(case, batch))
                if case["workload"] == "tree_lstm" and case["impl"] == "dbc":
                    self.do(at + " cublas", lambda: self.peer("cublas", case, batch))
                    self.do(at + " pytorch", lambda: self.torch(case, batch))

    def arguments(self, case, batch):
        return [case["entry"], self.path("inputs", case["workload"] + ".jsonl"), str(batch)]

    def time(self, case, batch):
        return self.call([self.program("time-" + case["model"]), *self.arguments(case, batch), str(SECONDS)])

    def peer(self, name, case, batch):
        return self.call([self.program(f"{name}-{case['model']}"), *self.arguments(case, batch), str(SECONDS)])

    def torch(self, case, batch):
        there = subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True)
        if there.returncode != 0:
            return {"skipped": "PyTorch with CUDA is absent"}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([self.program("weights-" + case["model"]), *self.arguments(case, batch), folder], check=True)
            return self.call([sys.executable, self.path(self.TORCH), folder, *self.arguments(case, batch)[1:], str(SECONDS),
                              str(case["hidden"])])

    def rows(self):
        return rows_of(self.manifest, self.device, self.results.done)

    def print(self):
        rows = self.rows()
        self.results.found["rows"] = rows
        self.results.save()
        print_rows(rows)
        profile = profile_of(self.manifest, self.results.done, PROFILED)
        if profile:
            print(f"\nstages of {PROFILED[0]}, batch {PROFILED[1]}, each launch by itself:")
            print(table(profile, ["stage", "path", "launches", "rows", "us", "predicted us"]))
        self.print_failed()

    def print_failed(self):
        failed = [[name, row["failed"][:100]] for name, row in self.results.done.items() if row.get("failed")]
        if failed:
            print(table(failed, ["failed", ""]))


def prediction_of(manifest, case, batch, path):
    """Microseconds and launches of a path as they were predicted, or nothing."""
    for each in manifest["predictions"]:
        if each["model"] == case["model"] and each["batch"] == batch and path in each["us"]:
            return each["us"][path], each["launches"][path]
    return None, None


def profile_of(manifest, done, of):
    """Each stage of a model and batch on each path: what it took beside what was predicted."""
    rows = []
    predicted = [each for each in manifest["predictions"] if (each["model"], each["batch"]) == of]
    expected = {kernel["name"]: kernel["us"] for kernel in predicted[0]["kernels"]} if predicted else {}
    for path in done.get(f"{of[0]} batch {of[1]}", {}).get("paths", []):
        for stage in path["stages"]:
            us = expected.get(stage["name"], {}).get(path["path"])
            rows.append([stage["name"], path["path"], stage["launches"], stage["rows"],
                         f"{stage['us']:.1f}", "" if us is None else f"{us:.1f}"])
    return rows


def rows_of(manifest, device, done):
    """The rows of scripts/bench --gpu: of what was measured; with `done` None of what is predicted."""
    rows = []
    for case in manifest["times"]:
        for batch in case["batches"]:
            def row(impl, path, math, **values):
                predicted, launches = prediction_of(manifest, case, batch, path)
                rows.append({"workload": case["workload"], "impl": impl, "mode": "infer", "hidden": case["hidden"],
                             "batch": batch, "threads": 1, "per_second": None, "spread": None, "schedule_ns_per_node": None,
                             "data": case["data"], "device": device, "path": path, "math": math, "launches": launches,
                             "predicted_us": predicted, "kernels_us": None, "with_copies_us": None, **values})

            if done is None:
                predicted = [each for each in manifest["predictions"] if (each["model"], each["batch"]) == (case["model"], batch)]
                for path in predicted[0]["us"] if predicted else [None]:
                    row(case["impl"], path, case["math"])
                continue
            at = f"{case['model']} batch {batch}"
            found = done.get(at, {})
            for each in found.get("paths", []):
                row(case["impl"], each["path"], case["math"], launches=each["launches"], per_second=1e6 * batch / each["whole_us"],
                    schedule_ns_per_node=1e3 * each["schedule_us"] / found["nodes"] if found["nodes"] else None,
                    kernels_us=each["kernels_us"], with_copies_us=each["with_copies_us"])
            for peer in ("cublas", "pytorch"):
                for each in done.get(f"{at} {peer}", {}).get("paths", []):
                    row(each["path"].replace(" ", "-"), "levels", each["math"], launches=each["launches"], predicted_us=None,
                        per_second=1e6 * batch / each["with_copies_us"], kernels_us=each["kernels_us"],
                        with_copies_us=each["with_copies_us"])
    return rows


def print_rows(rows):
    def number(value):
        return "" if value is None else f"{value:.1f}"

    print(table([[f"{row['workload']} {row['hidden']}", row["batch"], row["impl"], row["path"], row["math"],
                  "" if row["launches"] is None else row["launches"], number(row["predicted_us"]), number(row["kernels_us"]),
                  number(row["with_copies_us"])] for row in rows],
                ["workload", "batch", "impl", "path", "math", "launches", "predicted us", "kernels us", "with copies us"]))


class TrainingTimes(Times):
    """Phase 3: how long steps of plain SGD take, beside cuBLAS and PyTorch, and where the time goes."""

    TORCH = "torch_training.py"

    def run(self):
        if self.on_cpu:
            raise SystemExit("gpu-check: phase 3 measures times: it has no meaning on the CPU")
        self.build()
        for case in self.manifest["training_times"]:
            for batch in case["batches"]:
                at = f"{case['model']} batch {batch}"
                self.do(at, lambda: self.call([self.program("time-training-" + case["model"]), *self.arguments(case, batch),
                                               str(SECONDS)]))
                if case["impl"] == "dbc":
                    self.do(at + " cublas", lambda: self.call([self.program("cublas-training-" + case["model"]),
                                                               *self.arguments(case, batch), str(SECONDS)]))
                    self.do(at + " pytorch", lambda: self.torch(case, batch))

    def arguments(self, case, batch):
        return [case["loss"], self.path("inputs", case["workload"] + "-training.jsonl"), str(batch)]

    def print(self):
        rows = []
        for case in self.manifest["training_times"]:
            for batch in case["batches"]:
                for peer in ("", " cublas", " pytorch"):
                    for each in self.results.done.get(f"{case['model']} batch {batch}{peer}", {}).get("paths", []):
                        rows.append([f"{case['workload']} {case['hidden']}", batch, case["impl"] if not peer else "",
                                     each["path"], each.get("math", case["math"]),
                                     *(f"{each[of]:.0f}" if of in each else "" for of in ("gradients_us", "update_us", "schedule_us", "step_us"))])
        print(table(rows, ["training", "batch", "impl", "path", "math", "gradients us", "update us", "schedule us", "step us"]))
        for case in self.manifest["training_times"]:
            for path in self.results.done.get(f"{case['model']} batch {PROFILED[1]}", {}).get("paths", [])[-1:]:
                print(f"\nstages of {case['model']}, batch {PROFILED[1]}, {path['path']}, each launch by itself:")
                print(table([[stage["name"], stage["launches"], stage["rows"], f"{stage['us']:.1f}"] for stage in path["stages"]],
                            ["stage", "launches", "rows", "us"]))
        self.print_failed()


PHASES = {1: Correctness, 2: Times, 3: TrainingTimes}
