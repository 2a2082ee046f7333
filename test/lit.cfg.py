# How lit runs the tests in this folder. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# Features: `data` (real data lies in $DBC_DATA), `clang++`, `full` (scripts/test --full), `sanitizers`, `other-dbc` (that of another build tree, by another compiler),
# `asserts` (LLVM has assertions, and with them statistics of passes),
# `aarch64` (a cross compiler for 64-bit ARM and qemu-user),
# `debian` (what makes its packages), `nvcc`, `cuobjdump`, `gpu` (an NVIDIA GPU), `torch` (PyTorch), `bench` (dbc-bench, which needs OpenBLAS),
# `mpi` (dbc is built with MPI, whose launcher is there), `httplib` (the example that serves, which needs cpp-httplib), `jsonschema` (the package for some Python), `chromium` (a browser),
# `python-package` (the Python package is built, and its Python has
# NumPy), `python-torch` (and PyTorch), `scikit-build` (and what makes its wheel).
# Substitutions beside the tools: %n (how many random inputs `dbc verify` draws), %programs, %tensorprograms, %mutants, %rulemutants, %kills and %seed (of
# the random ones), %compilers (of elementwise_full.test), %otherdbc, %dbcpython (with the package `dbc`), %lspedits, %lspimportededits,
# %lspmodels (of the language server),
# %quickcxx (the compiler that is quickest at what runs once), %cuda* (what is run on a device), %nvcc, %cuobjdump, %cxx, %clangxx, %root (the sources), %build,
# %examples, %data, %python, %runtime (what a program needs to compile and link against the runtime).
import glob
import os
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config

config.name = "dbc"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".dyn", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.dbc_test_exec_root
llvm_config.with_system_environment(["HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "DBC_DATA"])

full = lit_config.params.get("full", "0") == "1"
if full:
    config.available_features.add("full")
if config.dbc_sanitize:
    config.available_features.add("sanitizers")
if os.path.exists(config.other_dbc):
    config.available_features.add("other-dbc")
if config.llvm_assertions in ("ON", "1", "TRUE"):
    config.available_features.add("asserts")

data = os.environ.get("DBC_DATA") or os.path.join(config.dbc_source_root, "..", "shared", "data")
if os.path.isdir(data):
    config.available_features.add("data")
else:
    lit_config.note(f"no data at {data}: the tests on real data are skipped")


def cached(compiler):
    """The compiler by way of ccache, where Debian's link to it is: a fresh checkout need not compile again what is as it was."""
    link = os.path.join("/usr/lib/ccache", os.path.basename(compiler or "none"))
    return link if os.path.exists(link) else compiler


config.environment["CCACHE_DIR"] = os.environ.get("CCACHE_DIR") or os.path.expanduser("~/.cache/ccache")
config.environment["CCACHE_BASEDIR"] = config.dbc_source_root
config.environment["CCACHE_NOHASHDIR"] = "1"
config.cxx = cached(config.cxx)
clangxx = cached(shutil.which("clang++-22") or shutil.which("clang++"))
if clangxx:
    config.available_features.add("clang++")
    config.substitutions.append(("%clangxx", clangxx))

if shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64"):
    config.available_features.add("aarch64")

if all(map(shutil.which, ("cpack", "dpkg-deb", "dpkg-shlibdeps"))):
    config.available_features.add("debian")
if shutil.which("pkg-config"):
    config.available_features.add("pkg-config")

nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
if nvcc and not config.dbc_sanitize:  # it knows no clang as new as the one that sanitizes
    config.available_features.add("nvcc")
    ccache = shutil.which("ccache")
    config.substitutions.append(("%nvcc", f"{ccache} {nvcc}" if ccache else nvcc))
cuobjdump = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump")
if cuobjdump:
    config.available_features.add("cuobjdump")
    config.substitutions.append(("%cuobjdump", cuobjdump))
# Packages, for whichever Python has them: PyTorch, and what tests JSON by a schema.
for package in ("torch", "jsonschema"):
    has = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)"
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", has]).returncode == 0:
            config.available_features.add(package)
            config.substitutions.append((f"%{package}python", python))
            break
browser = shutil.which("chromium")
if browser:
    config.available_features.add("chromium")
    config.substitutions.append(("%chromium", browser))
# The Python package, for the Python that it was built for.
if glob.glob(os.path.join(config.dbc_build_root, "python", "dbc", "_dbc*.so")):

    def has(*modules):
        tests = "; ".join(f"find_spec('{module}') or sys.exit(1)" for module in modules)
        return subprocess.run([config.dbc_python, "-c", f"import sys; from importlib.util import find_spec; {tests}"]).returncode == 0

    if has("numpy") and not config.dbc_sanitize:
        config.available_features.add("python-package")
        package = os.path.join(config.dbc_build_root, "python")
        program = os.path.join(config.dbc_tools_dir, "dbc")
        config.substitutions.append(("%dbcpython", f"env PYTHONPATH={package} DBC_EXECUTABLE={program} {config.dbc_python}"))
        if has("torch"):
            config.available_features.add("python-torch")
        if has("scikit_build_core", "pip"):
            config.available_features.add("scikit-build")
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("gpu")
if os.path.exists(os.path.join(config.dbc_tools_dir, "dbc-bench")):
    config.available_features.add("bench")
if shutil.which("mpirun") and os.path.exists(os.path.join(config.dbc_build_root, "runtime", "libdbc_mpi.a")) and not config.dbc_sanitize:
    config.available_features.add("mpi")
    # Tests may run as root, have more processes than processors, and be in a container that forbids to read other processes' memory.
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe"):
        config.environment["OMPI_" + name] = "1"
    config.environment["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
if os.path.exists(os.path.join(config.dbc_build_root, "examples", "serve", "serve")):
    config.available_features.add("httplib")

# Compiled models are shared between tests and runs, but not with the user's own.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.dbc_build_root, "test-cache")
config.environment["CXX"] = config.cxx
sanitize_flags = ""
if config.dbc_sanitize:  # a project that links a library with sanitizers needs their flags
    sanitize_flags = f"-fsanitize={config.dbc_sanitize} -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
    for name in ("CXXFLAGS", "LDFLAGS"):
        config.environment[name] = sanitize_flags

runtime = os.path.join(config.dbc_source_root, "runtime", "include")
libraries = os.path.join(config.dbc_build_root, "runtime")
flags = f"-std=c++17 -ffp-contract=off -fno-math-errno -fno-trapping-math {sanitize_flags}"
models = os.path.join(config.dbc_source_root, "test", "models")
examples = os.path.join(config.dbc_source_root, "examples")
property = os.path.join(config.dbc_source_root, "test", "property")
# Models that together have every operation and every form of kernels that the whole set has.
SCHEMES = ["[0-9][0135]_*", "07_*", "12_*", "24_*", "36_*"]

# Models, as patterns: in a run, and in a full one.
SETS = {
    "shimmodels": (" ".join(f"{models}/{name}.dyn" for name in SCHEMES), f"{models}/*.dyn"),
    "gradientmodels": (f"{models}/35_*.dyn {models}/40_*.dyn {models}/44_*.dyn {examples}/tree_lstm/*.dyn", f"{models}/*.dyn {examples}/*/*.dyn"),
    "cudagradients": (
        " ".join(f"{property}/{name}.dyn" for name in ("computed_lookups", "dropout", "input_gradients", "shared_failures", "sparse_gradients", "stored_gradients")),
        f"{property}/*.dyn",
    ),
    "cudamodels": ("[0-9][05]_*", "*"),
    "cudaways": ("[0-9]5_*", "*"),
    "lspmodels": (f"{examples}/tree_lstm/*.dyn {models}/2[14]_*.dyn {models}/37_*.dyn", f"{examples}/*/*.dyn {models}/*.dyn"),
}

# How many of what is drawn at random: in a run, in a full one, and under sanitizers.
# Any other number by lit's parameter of that name: `lit --param programs=2000`.
NUMBERS = {
    "n": (200, 400, 30),  # inputs of a model
    "programs": (100, 250, 20),  # programs
    "gradientprograms": (10, 100, 5),  # programs with gradients
    "tensorprograms": (10, 40, 4),  # programs of nothing but tensors
    "mutants": (300, 1000, 50),  # mutated models
    "rulemutants": (12, 12, 12),  # mutated rules of derivatives
    "kills": (10, 200, 2),  # of a training
    "lspedits": (3000, 10000, 500),  # changes of a model in an editor
    "lspimportededits": (300, 3000, 50),  # of one that imports modules
    "cudainputs": (3, 10, 3),  # inputs of a model on a device
    "cudaseeds": (1, 3, 1),  # interleavings on a device
    "cudaprograms": (20, 40, 8),  # programs on a device
    "cudagradientprograms": (4, 40, 2),  # programs with gradients there
}


def number(name):
    standard = NUMBERS[name][2 if config.dbc_sanitize else 1 if full else 0]
    return lit_config.params.get(name, str(standard))


config.substitutions += [
    *((f"%{name}", number(name)) for name in NUMBERS),
    *((f"%{name}", every if full else some) for name, (some, every) in SETS.items()),
    ("%otherdbc", config.other_dbc),
    ("%compilers", lit_config.params.get("compilers", config.cxx)),
    ("%forms", "--verify" if full and not config.dbc_sanitize else ""),
    ("%seed", lit_config.params.get("seed", "1")),
    ("%quickcxx", clangxx if clangxx and not config.dbc_sanitize else config.cxx),
    ("%cxx", config.cxx),
    ("%root", config.dbc_source_root),
    ("%build", config.dbc_build_root),
    ("%examples", examples),
    ("%data", os.path.realpath(data)),
    ("%python", sys.executable),
    ("%runtime", f"{flags} -I{runtime} -L{libraries} -ldbc_runtime_io -ldbc_runtime -pthread"),
]
llvm_config.add_tool_substitutions(
    ["dbc", "dbc-lsp", "dbc-opt", "dbc-codegen-test", "FileCheck", "not", "count", "split-file"],
    [config.dbc_tools_dir, config.llvm_tools_dir],
)
