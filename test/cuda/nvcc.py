"""Compiles the kernels of models for NVIDIA's GPUs and reads what ptxas says of them. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

FLAGS = "-std=c++17 -O3 -fmad=false --expt-relaxed-constexpr -Xcompiler -Wall,-Wextra --Werror all-warnings -Xptxas -v -Xfatbin -compress=false".split()
PTX = "sm_90"  # of which PTX is looked at


# What PTX of kernels with products on the tensor cores must have: the instruction, and loads of 16 bytes, of rows that are
# gathered among them.
INSTRUCTIONS = ["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "ld.global.v4.f32"]
# What gathers have, and stores, where blocks wait for the elements.
SYNCED = ["ld.relaxed.gpu.global.v4.f32", "st.relaxed.gpu.global.f32", "red.release.gpu.global.add.s32"]


def missing(folder, source):
    """The instructions that the PTX of kernels lacks; none where the source has no products for them."""
    with open(os.path.join(folder, source)) as kernels:
        source_text = kernels.read()
    if "TensorCores" not in source_text:
        return []
    with open(os.path.join(folder, "kernels.o"), "rb") as code:  # where PTX stands as text
        text = code.read()
    wanted = INSTRUCTIONS + (SYNCED if re.search(r"aligned_segment\([^;()]*, block_group\)", source_text) else [])
    return [f"{PTX}: no `{name}` in PTX" for name in wanted if name.encode() not in text]


# Instructions of a large-M tile's innermost loop for each one of the tensor cores' own, where it has so many of these that a tile's
# weights and rows are read once for several.
MOST_INSTRUCTIONS, MANY = 5, 40


def loops_of(code):
    """Instructions, and among them those of the tensor cores, of each innermost loop that has some, in a disassembly."""
    lines = [(int(at, 16), text) for at, text in re.findall(r"/\*([0-9a-f]{4,})\*/\s+([^;]*);", code)]
    loops = []
    for end, text in lines:
        back = re.search(r"\bBRA\b.*0x([0-9a-f]+)", text)
        if back and (begin := int(back[1], 16)) < end:
            inside = [text for at, text in lines if begin <= at <= end]
            loops.append((begin, end, len(inside), sum("HMMA" in text for text in inside)))
    loops = [loop for loop in loops if loop[3] > 0]
    return [loop[2:] for loop in loops if not any(o != loop and o[0] >= loop[0] and o[1] <= loop[1] for o in loops)]


def crowded(options, folder, architecture):
    """Loops of large-M tiles where the tensor cores wait for too many other instructions."""
    command = [options.cuobjdump, "--dump-sass", "--gpu-architecture", architecture, "kernels.o"]
    text = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    wrong, seen = [], 0
    for code in re.split(r"\n\s*Function : ", text)[1:]:
        name = code.split("\n")[0]
        for instructions, mmas in loops_of(code) if "ILi128E" in name else []:
            seen += mmas >= MANY
            if mmas >= MANY and instructions > MOST_INSTRUCTIONS * mmas:
                wrong.append(f"{architecture}: {name}: {instructions} instructions for {mmas} of the tensor cores")
    return wrong if seen > 0 else [f"{architecture}: no loop of a large-M tile has {MANY} instructions of the tensor cores"]


MOST_REGISTERS = 255  # of a thread, on each GPU
# Kernels that are no model's: whether there is code for a GPU, and the steps of an optimizer.
OF_RUNTIME = "probe", "square_gradients", "add_squares", "change_weights", "gather_weights", "clear_numbers", "add_sums_of_slices"


def names_of(mangled):
    """The names that a mangled one is made of, and the template's arguments as they stand."""
    names, at = [], len("_ZN")
    while length := re.match(r"\d+", mangled[at:]):
        at += len(length[0])
        names.append(mangled[at:at + int(length[0])])
        at += int(length[0])
    return names, mangled[at:]


class Predicted:
    """What dbc report says of each kernel, by the names that they have in a model's .cu, and what their launches ask for."""

    def __init__(self, options, model, source_text, host_text):
        command = [options.dbc, "report", model, *options.dims, "--target", "cuda", "--json", "--gpu-blas", options.blas, "--mode", options.mode]
        done = subprocess.run([*command, "--gpu-math", options.math], check=True, capture_output=True, text=True)
        self.stages, self.launched, self.wrong, self.loops = {}, set(), [], {}
        texts = re.findall(r"^namespace (\w+_code|common\d*) \{\n(.*?)^\} // namespace \1\n", source_text, re.M | re.S)
        # Where the kernels stand that an entry launches: several may have one in common.
        tables = re.findall(r"DeviceStage<cuda_kernels::(\w+)::Arrays> device_stages\[\] = \{(.*?)^\};", host_text, re.M | re.S)
        spaces = {code: dict((stage, space) for space, stage in re.findall(r"(\w+)::launch_stage_(\w+)", table)) for code, table in tables}
        for entry in json.loads(done.stdout)["device"]:
            for kernel in entry["kernels"]:
                code, name = entry["entry"] + "_code", re.sub(r"\W", "_", kernel["name"])
                if self.bounds(self.stages.setdefault((spaces[code][name], name), kernel)) != self.bounds(kernel):
                    self.wrong.append(f"{code}: {name}: another entry that has this kernel says other numbers")
        for code, text in texts:
            for loop, body in re.findall(r"^(\w+)\(const Arrays arrays, const dbc::cuda::PersistentLoop loop\) \{\n(.*?)\n\}\n", text, re.M | re.S):
                called = re.findall(r" (?:(common\d*)::)?stage_(\w+)(?:<\d+>)?\( ?arrays", re.sub(r"\s+", " ", body))
                self.loops[code, loop] = [self.stages[elsewhere or code, stage] for elsewhere, stage in called]
            self.shared(code, re.sub(r"\s+", " ", text))
        for (code, stage), kernel in self.stages.items():
            if not kernel["clears"] and not any(product["blas"] for product in kernel["products"]) and (code, stage) not in self.launched:
                self.wrong.append(f"{code}: {stage}: no launch was found")
            if kernel["launch"].startswith("in a persistent kernel") and not any(kernel in loop for loop in self.loops.values()):
                self.wrong.append(f"{code}: {stage}: no loop was found")

    @staticmethod
    def bounds(kernel):
        """What is compared with what ptxas says, or with what launches ask for."""
        return [kernel[name] for name in ("registers", "large_m_registers", "large_m_rows", "shared_bytes", "large_m_shared_bytes")]

    def shared(self, code, text):
        """Launches ask for the shared memory that was predicted."""
        for stage, rows, given in re.findall(r"dbc::cuda::launch\(\w+?_of_stage_(\w+)(?:<(\d+)>)?, [^;]*?, (\d+), stream,", text):
            kernel = self.stages[code, stage]
            self.launched.add((code, stage))
            large = rows and int(rows) == kernel["large_m_rows"]
            if int(given) != kernel["large_m_shared_bytes" if large else "shared_bytes"]:
                self.wrong.append(f"{code}: {stage} <{rows}>: {given} bytes of shared memory are not what the report says")
        for loop, resident, given in re.findall(r"launch_cooperative\((\w+)<(true, )?[^;]*?, loop, (\d+), stream,", text):
            stages = self.loops[code, loop]
            sizes = {product["matrix"]: product["resident_bytes"] for stage in stages for product in stage["products"]}
            bytes = max(stage["shared_bytes"] for stage in stages) + (sum(sizes.values()) if resident else 0)
            if int(given) != bytes:
                self.wrong.append(f"{code}: {loop}: {given} bytes of shared memory where the report makes {bytes}")

    def registers(self, mangled):
        names, arguments = names_of(mangled)
        code, name = names[-3], names[-1]
        if name in OF_RUNTIME:
            return MOST_REGISTERS
        if loop := self.loops.get((code, name)):
            return max(stage["registers"] for stage in loop)
        kernel = self.stages[code, re.sub("^(kernel|node)_of_stage_", "", name)]
        return kernel["large_m_registers" if f"ILi{kernel['large_m_rows']}E" in arguments else "registers"]


def compile_model(options, model):
    """What is wrong with a model's kernels, and the most registers that one takes."""
    wrong, registers = [], 0
    with tempfile.TemporaryDirectory() as folder:
        command = [options.dbc, "compile", model, *options.dims, "--target", "cpu,cuda", "--mode", options.mode]
        subprocess.run([*command, "--gpu-blas", options.blas, "--gpu-math", options.math, "-o", folder], check=True)
        (source,) = [name for name in os.listdir(folder) if name.endswith(".cu")]
        with open(os.path.join(folder, source)) as kernels, open(os.path.join(folder, source.replace(".cu", ".cpp"))) as host:
            predicted = Predicted(options, model, kernels.read(), host.read())
        wrong += predicted.wrong
        command = [*options.nvcc, *FLAGS, *([] if options.debug else ["-DNDEBUG"]), f"-I{options.include}"]
        for architecture in options.architectures:
            virtual = architecture.replace("sm", "compute")
            code = f"[{architecture},{virtual}]" if architecture == PTX else architecture
            command += ["-gencode", f"arch={virtual},code={code}"]
        done = subprocess.run([*command, "-c", source, "-o", "kernels.o"], cwd=folder, capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode != 0:
            wrong += [line for line in said.splitlines() if "error" in line or "warning" in line] or [said]
            return model, wrong, registers
        name, architecture = "", ""
        for line in said.splitlines():
            if found := re.search(r"entry function '(\w+)' for '(\w+)'", line):
                name, architecture = found.groups()
            elif found := re.search(r"properties for (\w+)", line):
                name = found[1]
            if found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line):
                if (found[1] != "0" and not options.debug) or found[2] != "0":
                    wrong.append(f"{architecture}: {name}: {line.strip()}")
            if found := re.search(r"Used (\d+) registers", line):
                registers = max(registers, int(found[1]))
                if name and int(found[1]) > predicted.registers(name):
                    wrong.append(f"{architecture}: {name}: {found[1]} registers, where the report says {predicted.registers(name)}")
            if re.search(r"bytes smem", line):
                wrong.append(f"{architecture}: {name}: shared memory that no launch asks for: {line.strip()}")
        if options.cuobjdump:
            wrong += [line for architecture in options.architectures for line in crowded(options, folder, architecture)]
        if not options.debug and PTX in options.architectures:
            wrong += missing(folder, source)
    return model, wrong, registers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dbc", required=True)
    parser.add_argument("--nvcc", required=True, type=shlex.split, help="its command, as `ccache nvcc`")
    parser.add_argument("--debug", action="store_true", help="without NDEBUG, where kernels may have a stack")
    parser.add_argument("--include", required=True, help="the runtime's headers")
    parser.add_argument("--architectures", nargs="+", default=["sm_80", "sm_90"])
    parser.add_argument("--blas", default="never", help="which products cuBLAS computes: never, auto or always")
    parser.add_argument("--math", default="f32", help="how matrices are multiplied: f32 or tf32")
    parser.add_argument("--mode", default="infer", help="train: losses with their gradients, and an optimizer")
    parser.add_argument("-D", dest="dims", action="append", default=[], type="-D{}".format, help="a dim, as NAME=N")
    parser.add_argument("--cuobjdump", help="a disassembler: loops of large-M tiles must be mostly for the tensor cores")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for model, wrong, registers in pool.map(lambda model: compile_model(options, model), options.models):
            print(f"{os.path.basename(model)}: at most {registers} registers a thread", *wrong, sep="\n  ")
            failed += bool(wrong)
    print(f"{len(options.models)} models, {failed} with something wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
