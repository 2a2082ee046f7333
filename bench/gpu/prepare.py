"""Writes the folder that `scripts/gpu-check run` needs on a machine with a GPU: emitted sources, the runtime's, inputs,
results of the oracle, predictions. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import glob
import json
import os
import shutil
import subprocess

from workloads import BATCHES, HIDDEN, lines_of, workloads

MOST_BYTES = 48 << 20
# One of each kind of loop and stage: sequences, trees, graphs, lattices, steps, `while`, products of tables, runtime errors.
MODELS = ("02_lstm_language_model 05_bilstm_crf_tagger 08_attention_decoder 10_nested_rnn 11_grid_lstm 13_treefc "
          "16_child_sum_tree_lstm 21_mv_rnn 24_expression 25_module_network 27_random_dag 29_lattice_lstm 32_ggnn "
          "33_graph_attention 37_spinn 40_berxit 44_hm_rnn").split()
# Of a sequence, a tree with children of any number, a graph; and the Tree-LSTM as it is timed.
TRAINED = "02_lstm_language_model 16_child_sum_tree_lstm 32_ggnn".split()
SANITIZED = ("13_treefc", "21_mv_rnn", "32_ggnn")  # by compute-sanitizer, which is slow
CHECKED_HIDDEN = 150  # of the workloads
CHECKED_LINES = 24
TIMED_LINES = 2048
CLASSES = 5  # labels of the workload that is trained
FILES = ["CMakeLists.txt", "Check.cpp", "CheckTraining.cpp", "CublasLevels.cu", "CublasTraining.cu", "Host.cpp", "Lines.cpp", "Lines.h", "Micro.cu",
         "Time.cpp", "TimeTraining.cpp", "Timing.h", "TreeLevels.cuh", "Watch.cpp", "Watch.h", "WriteWeights.cpp", "torch_levels.py", "torch_training.py"]


class Preparation:
    def __init__(self, root, folder, dbc, bench, device):
        self.root, self.folder, self.dbc, self.bench, self.device = root, folder, dbc, bench, device
        self.checks, self.trainings, self.times, self.training_times, self.predictions = [], [], [], [], []
        # What dbc runs here is compiled once and computes little.
        self.environment = {**os.environ, "CXXFLAGS": os.environ.get("CXXFLAGS", "-O1")}

    def run(self, *command):
        done = subprocess.run([self.dbc, *command], capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            raise SystemExit(f"gpu-check: dbc {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def path(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, text, *names):
        with open(self.path(*names), "w") as file:
            file.write(text)

    def compile(self, name, source, *options):
        """Emits a model; gives its manifest."""
        self.run("compile", source, "--target", "cpu,cuda", "-o", self.path("models", name, ""), *options)
        (manifest,) = glob.glob(self.path("models", name, "*.json"))
        with open(manifest) as file:
            found = json.load(file)
        os.remove(manifest)
        for rest in glob.glob(self.path("models", name, "*.d")):
            os.remove(rest)
        return found

    def copy_sources(self):
        for name in FILES:
            shutil.copy(os.path.join(self.root, "bench", "gpu", name), self.path(name))
        for name in ("include", "core", "cuda", "io"):
            shutil.copytree(os.path.join(self.root, "runtime", name), self.path("runtime", name))
        for name in glob.glob(os.path.join(self.root, "cost", "devices", "*.json")):
            shutil.copy(name, self.path("devices", os.path.basename(name)))
        # The readers of JSON lines need it.
        for folder in ("/usr/include", "/usr/local/include"):
            if os.path.isdir(os.path.join(folder, "nlohmann")):
                shutil.copytree(os.path.join(folder, "nlohmann"), self.path("third_party", "nlohmann"))
                return
        raise SystemExit("gpu-check: nlohmann-json3-dev is not installed")

    def add_check(self, name, model, entry, inputs, expected, large=False):
        """A case of phase 1; inputs that fail are left out. One that is large takes minutes where the CPU runs the kernels."""
        pairs = [(line, result) for line, result in zip(inputs, expected) if '"error"' not in result]
        if not pairs:
            return
        self.write("".join(line + "\n" for line, _ in pairs), "checks", name + ".jsonl")
        self.write("".join(result + "\n" for _, result in pairs), "checks", name + ".expected")
        self.write("", "models", model, "check")
        self.checks.append({"name": name, "model": model, "entry": entry, "sanitize": model in SANITIZED, "large": large})

    def check_model(self, name):
        source = os.path.join(self.root, "test", "models", name + ".dyn")
        manifest = self.compile(name, source)
        entries = [entry["name"] for entry in manifest["entries"] if not entry["loss"]]
        for entry in entries or [entry["name"] for entry in manifest["entries"]]:
            inputs = self.run("sample", source, "-n", str(CHECKED_LINES), "--seed", "7", "--entry", entry)
            self.write(inputs, "inputs", "sampled")
            done = subprocess.run(
                [self.dbc, "interpret", source, "--entry", entry, "--input", self.path("inputs", "sampled")],
                capture_output=True, text=True)
            self.add_check(f"{name}.{entry}", name, entry, inputs.splitlines(), done.stdout.splitlines())
            os.remove(self.path("inputs", "sampled"))

    def add_training(self, name, source, *options, large=False):
        """A training of phase 1, of the model's first loss by drawn inputs. The CPU of that machine computes what it is compared
        with."""
        model = name + "-train"
        manifest = self.compile(model, source, "--mode", "train", *options)
        loss = next(entry["name"] for entry in manifest["entries"] if entry["loss"])
        lines = self.run("sample", source, *options, "-n", str(CHECKED_LINES), "--seed", "7", "--entry", loss)
        self.write(lines, "checks", model + ".jsonl")
        self.write("", "models", model, "train")
        self.trainings.append({"name": f"{model}.{loss}", "model": model, "loss": loss, "large": large})

    def add_workload(self, workload, hidden_sizes, batches):
        subprocess.run([self.bench, "--dump", self.folder, "--workload", workload.name], check=True)
        dumped = self.path(workload.name + ".json")
        with open(dumped) as file:
            dump = json.load(file)
        os.remove(dumped)
        source, lines = os.path.join(self.root, workload.source), None
        for hidden in hidden_sizes:
            impls = {"dbc": ["--table-budget", "0"], "dbc-tf32": ["--table-budget", "0", "--gpu-math", "tf32"]}
            if workload.name == "tree_lstm":
                impls["dbc-table"] = []
            for impl, how in impls.items():
                model = f"{workload.name}{impl.removeprefix('dbc')}-{hidden}"
                manifest = self.compile(model, source, *workload.options(hidden), *how)
                if lines is None:
                    lines = list(lines_of(dump, manifest, TIMED_LINES))
                    self.write("".join(line + "\n" for line in lines), "inputs", workload.name + ".jsonl")
                self.write("", "models", model, "time")
                self.times.append({"model": model, "workload": workload.name, "impl": impl, "hidden": hidden,
                                   "entry": dump["entry"], "data": dump["data"], "math": manifest["gpu_math"]["name"],
                                   "batches": list(batches)})
                for batch in batches:
                    self.predict(model, source, [*workload.options(hidden), *how], workload, dump["entry"], lines, batch)
        return dump["entry"], source, lines

    def add_training_time(self, workload, hidden, batches):
        """Trainings of phase 3, by the lines of the workload with a label at every node."""
        labelled = self.path("inputs", workload.name + "-training.jsonl")
        if not os.path.exists(labelled):
            with open(self.path("inputs", workload.name + ".jsonl")) as lines, open(labelled, "w") as to:
                for line in lines:
                    found = json.loads(line)
                    for number, node in enumerate(found["nodes"]):
                        for fields in node.values():
                            fields["label"] = number % CLASSES
                    to.write(json.dumps(found) + "\n")
        for impl, how in {"dbc": [], "dbc-tf32": ["--gpu-math", "tf32"]}.items():
            model = f"{workload.name}-train{impl.removeprefix('dbc')}-{hidden}"
            manifest = self.compile(model, os.path.join(self.root, workload.source), "--mode", "train", *workload.options(hidden), *how)
            self.write("", "models", model, "time-training")
            self.training_times.append({"model": model, "workload": workload.name, "impl": impl, "hidden": hidden,
                                        "loss": next(entry["name"] for entry in manifest["entries"] if entry["loss"]),
                                        "math": manifest["gpu_math"]["name"], "batches": list(batches)})

    def predict(self, model, source, options, workload, entry, lines, batch):
        """What whole batches take, of as many inputs as are timed. Without memory for one there is no prediction."""
        count = max(1, min(8, len(lines) // batch)) * batch
        name = self.path("inputs", "batches")
        self.write("".join(lines[n % len(lines)] + "\n" for n in range(count)), "inputs", "batches")
        command = [self.dbc, "report", source, *options, "--entry", entry, "--device", self.device, "--input", name, "--batch",
                   str(batch), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        os.remove(name)
        if done.returncode == 0:
            self.predictions.append({"model": model, "batch": batch, **json.loads(done.stdout)["prediction"]})
        elif "not enough memory" in done.stderr:
            print(f"{model}, batch {batch}: {done.stderr.strip()}; it has no prediction")
        else:
            raise SystemExit(f"gpu-check: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")

    def check_workload(self, workload, entry, source, lines):
        """Of a workload as large as it is timed, compiled code on the CPU stands for the oracle."""
        model = f"{workload.name}-{CHECKED_HIDDEN}"
        some = lines[:CHECKED_LINES] if workload.name != "treefc" else lines[:8]
        self.write("".join(line + "\n" for line in some), "inputs", "checked")
        expected = self.run("run", source, *workload.options(CHECKED_HIDDEN), "--table-budget", "0", "--entry", entry,
                            "--input", self.path("inputs", "checked"))
        os.remove(self.path("inputs", "checked"))
        self.add_check(model, model, entry, some, expected.splitlines(), large=True)

    def finish(self, commit):
        total, largest = 0, []
        for folder, _, files in os.walk(self.folder):
            for name in files:
                size = os.path.getsize(os.path.join(folder, name))
                total += size
                largest.append((size, os.path.relpath(os.path.join(folder, name), self.folder)))
        if total > MOST_BYTES:
            words = ", ".join(f"{name} {size >> 20} MiB" for size, name in sorted(largest)[-5:])
            raise SystemExit(f"gpu-check: the folder has {total >> 20} MiB, more than {MOST_BYTES >> 20}; the largest: {words}")
        self.write(json.dumps({"commit": commit, "device": self.device, "checks": self.checks, "trainings": self.trainings,
                               "times": self.times, "training_times": self.training_times,
                               "predictions": self.predictions}, indent=1) + "\n", "manifest.json")
        return total


def commit_of(root):
    done = subprocess.run(["git", "-C", root, "rev-parse", "--short=9", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def prepare(root, folder, build, models=MODELS, trained=TRAINED, hidden=HIDDEN, batches=BATCHES, workload=None, timed=True,
            device="h100"):
    """Writes the folder anew; gives its manifest. Without `timed` nothing of the workloads is written."""
    if os.path.exists(folder) and not os.path.exists(os.path.join(folder, "manifest.json")) and os.listdir(folder):
        raise SystemExit(f"gpu-check: {folder} is no folder of gpu-check's; it is left alone")
    shutil.rmtree(folder, ignore_errors=True)
    programs = [os.path.join(build, "bin", name) for name in ("dbc", "dbc-bench")]
    for program in programs[: 1 + timed]:
        if not os.path.exists(program):
            raise SystemExit(f"gpu-check: {program} is not built; scripts/build builds it")
    work = Preparation(root, folder, *programs, device)
    work.write("{}", "manifest.json")  # the folder is ours, whole or not
    work.copy_sources()
    for model in models:
        work.check_model(model)
    for model in trained:
        work.add_training(model, os.path.join(root, "test", "models", model + ".dyn"))
    for each in workloads(root, workload) if timed else []:
        entry, source, lines = work.add_workload(each, hidden, batches)
        if models and CHECKED_HIDDEN in hidden:
            work.check_workload(each, entry, source, lines)
        if trained and each.name == "tree_lstm" and CHECKED_HIDDEN in hidden:
            work.add_training(f"{each.name}-{CHECKED_HIDDEN}", source, *each.options(CHECKED_HIDDEN), large=True)
        if trained and each.name == "tree_lstm":
            for size in hidden:
                work.add_training_time(each, size, batches)
    total = work.finish(commit_of(root))
    print(f"{folder}: {total / (1 << 20):.1f} MiB, {len(work.checks)} cases to check, {len(work.trainings)} to train, "
          f"{len(work.times)} models to time")
    with open(os.path.join(folder, "manifest.json")) as file:
        return json.load(file)
