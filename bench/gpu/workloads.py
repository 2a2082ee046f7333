"""The workloads of the benchmarks, as bench/CMakeLists.txt lists them, and their inputs as JSON lines. Part of dbc, under
Apache-2.0 WITH LLVM-exception; see LICENSE."""
import dataclasses
import json
import os
import re

HIDDEN = (150, 256, 512)
BATCHES = (1, 10, 64, 256, 1024)


@dataclasses.dataclass
class Workload:
    name: str
    source: str  # the model, from the sources' root
    dim: str     # what the hidden size is called in it
    dims: list   # its other dims, as -D

    def options(self, hidden):
        return [option for dim in [f"{self.dim}={hidden}", *self.dims] for option in ("-D", dim)]


def workloads(root, only=None):
    """All workloads, or the one of that name."""
    with open(os.path.join(root, "bench", "CMakeLists.txt")) as file:
        lines = re.findall(r"^ *dbc_bench_model\((\w+) (\S+) (\w+)([^)$]*)\)", file.read(), re.MULTILINE)
    found = [Workload(name, source, dim, rest.split()) for name, source, dim, rest in lines]
    if only and only not in (workload.name for workload in found):
        raise SystemExit(f"there is no workload `{only}`, only {', '.join(workload.name for workload in found)}")
    return [workload for workload in found if only in (None, workload.name)]


def lines_of(dump, manifest, most):
    """The first inputs of what `dbc-bench --dump` wrote, as JSON lines for the model of that manifest."""
    *tables, arguments = dump["tables"]
    types = {data["name"]: data["constructors"] for data in manifest["data"]}
    names = [constructor["name"] for constructors in types.values() for constructor in constructors]
    for number in range(min(most, len(arguments["begin"]) - 1)):
        firsts, first = [], 0
        for table in tables:
            firsts.append(first - table["begin"][number])
            first += table["begin"][number + 1] - table["begin"][number]

        def value(column, row):
            def one(at):
                if column["extent"]:
                    return column["values"][at * column["extent"] : (at + 1) * column["extent"]]
                to = column["target"]
                return column["values"][at] + (firsts[to] if to >= 0 else 0)

            if column["offsets"]:
                return [one(at) for at in range(column["offsets"][row], column["offsets"][row + 1])]
            return one(row)

        nodes = []
        for table in tables:
            for row in range(table["begin"][number], table["begin"][number + 1]):
                constructor = types[table["name"]][table["kinds"][row] if table["kinds"] else 0]
                name, fields = constructor["name"], {field["name"] for field in constructor["fields"]}
                name = name if names.count(name) == 1 else f"{table['name']}.{name}"
                nodes.append({name: {c["name"]: value(c, row) for c in table["columns"] if c["name"] in fields}})
        yield json.dumps({"nodes": nodes, "args": {c["name"]: value(c, number) for c in arguments["columns"]}})
