"""Compares the memory that models are given on a device with the formula in their manifests. What a batch has is counted by
itself: nodes and elements of lists in its lines, rows, levels and steps where the model's code has scheduled them. Part of
dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import collections
import json
import os
import sys

import memory
import on_cpu


# What Inputs/memory.cpp has for the model's code.
DECLARATIONS = """#include <dbc/cuda/context.h>
void begin_to_count();
void count(const char *what, int64_t number);
int64_t begin(dbc::cuda::Context &device, std::initializer_list<dbc::cuda::Region> regions);
"""


def counting(text, manifest):
    """The host's code of a model, which says what a batch has before it asks for memory."""
    for entry in manifest["entries"]:
        start = text.index(f"namespace {entry['cpp']}_code {{")
        at = text.index("  begun = device.begin({\n", start)
        plan = text[start:at]
        index_sets = {each["name"]: each for each in entry["index_sets"]}
        terms = [term for array in entry["device_arrays"] for term in array["largest"]]
        lines = ["  begin_to_count();\n"]
        if "  block_groups.begin(run" in plan:
            lines.append('  count("block_groups", block_groups.count());\n')
        for name in sorted({term["of"] for term in terms if term["count"] in ("rows", "order", "begins", "time_steps", "blocks")}):
            index_set = index_sets[name]
            if index_set["kind"] in ("batch", "by_input"):
                order = name.replace(".", "_")
                said = f'"rows {name}", 1' if index_set["kind"] == "batch" else f'"order {name}", {order}.order() ? {order}.rows() : 0'
                lines.append(f"  count({said});\n")
                continue
            member = "inputs" if index_set["kind"] == "inputs" else name.replace(".", "_")
            if f"dbc::IndexSet {member}_rows{{" in plan:  # something else has the name
                member += "_rows"
            rows = member if index_set["kind"] == "states" and not index_set["index_arrays"] else member + ".rows()"
            time_steps, levels = member + ".time_steps", member + ".time_steps.count"
            if index_set["kind"] == "instances":
                cells = [each["name"] for each in entry["index_sets"] if each.get("group") == index_set["group"]]
                cell = f"{index_set['group'].replace('.', '_')}.cell({cells.index(name)})"
                time_steps, levels = cell + ".time_steps", cell + ".levels"
            of = {term["count"] for term in terms if term.get("of") == name}
            lines.append(f'  count("rows {name}", {rows});\n')
            if "begins" in of:
                lines.append(f'  count("begins {name}", {rows} + 1);\n')
            if "order" in of:
                lines.append(f'  count("order {name}", {time_steps}.in_order ? 0 : {rows});\n')
            if "time_steps" in of:
                lines.append(f'  count("time_steps {name}", {levels});\n')
        text = text[:at] + "".join(lines) + text[at:].replace("device.begin({", "begin(device, {", 1)
    return DECLARATIONS + text


def values(form, value, path, level=-1, depth=0):
    """How many values, or lists behind `level` lists, a value of JSON has at the component that `path` names."""
    if form["form"] == "list":
        if depth == level:
            return len(value)
        return sum(values(form["element"], each, path, level, depth + 1) for each in value)
    if form["form"] == "tuple":
        return values(form["elements"][int(path[0])], value[int(path[0])], path[1:], level, depth)
    if form["form"] == "record":
        (field,) = (field for field in form["fields"] if field["name"] == path[0])
        return values(field["type"], value[path[0]], path[1:], level, depth)
    return 1


def of_lines(manifest, entry, lines):
    """What manifests count of inputs, nodes and elements."""
    inputs = [json.loads(line) for line in lines]
    counts = collections.Counter({"inputs": len(inputs)})
    wanted = {(term["of"], term.get("level", -1)) for array in entry["device_arrays"] for term in array["largest"]
              if term["count"] == "elements"}

    def add(name, form, value):
        for of, level in wanted:
            if of == name or of.startswith(name + "."):
                path = of[len(name) + 1 :].split(".")
                counts[" ".join(["elements", of, *([str(level)] if level >= 0 else [])])] += values(form, value, path, level)

    for each in inputs:
        for arg in entry["args"]:
            add(arg["name"], arg["type"], each["args"][arg["name"]])
        for node in each["nodes"]:
            ((name, fields),) = node.items()
            for data in manifest["data"]:
                for constructor in data["constructors"]:
                    if name in (constructor["name"], data["name"] + "." + constructor["name"]):
                        counts["nodes " + data["name"]] += 1
                        for field in constructor["fields"]:
                            add(data["name"] + "." + field["name"], field["type"], fields[field["name"]])
    return counts


def main():
    options = on_cpu.arguments(__doc__).parse_args()
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "memory.cpp")

    def check(model, program, manifest, folder):
        wrong = []
        for entry in manifest["entries"]:
            file = os.path.join(folder, "lines.jsonl")
            with open(file, "w", encoding="utf-8") as lines:
                lines.write(on_cpu.run([options.dbc, "sample", model, "--entry", entry["name"], "-n", "12"]))
            with open(file, encoding="utf-8") as lines:
                lines = lines.readlines()
            for line in on_cpu.run([program, entry["name"], file]).splitlines():
                said = json.loads(line)
                batch = lines[said["begin"] : said["end"]]
                counts = {**of_lines(manifest, entry, batch), **said["counts"]}
                counts = collections.Counter(counts)
                arrays = {array["name"]: memory.array_bytes(array, counts) for array in entry["device_arrays"]}
                wrong += [
                    f"`{entry['name']}`, inputs {said['begin']} to {said['end']}: {what}: by the formula {bytes_} bytes, given {given}"
                    for what, bytes_, given in [
                        ("the model", manifest["device_memory"]["model_bytes"], said["model"]),
                        *((name, bytes_, given) for (name, bytes_), given in zip(arrays.items(), said["arrays"], strict=True)),
                        ("the sub-batch", memory.needed(manifest, entry, counts), said["batch"]),
                    ]
                    if bytes_ != given
                ]
        return "\n  ".join(wrong)

    return on_cpu.each(options, source, check, counting)


if __name__ == "__main__":
    sys.exit(main())
