"""Fails if a file includes a header of a room that its own must not depend on. Part of every build (cmake/DbcRooms.cmake).

usage: check_rooms.py ROOT

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import re
import sys

# Whose headers files may include beside those of their own room; `llvm` and `mlir` stand for LLVM's and MLIR's, `passes/*`
# for a room and those in it. What generated code and applications use is the runtime alone; tests see everything.
RULES = {
    "frontend/syntax": [],
    "frontend/check": ["frontend/syntax"],
    "frontend/format": ["frontend/syntax"],
    "frontend/lower": ["frontend/syntax", "frontend/check", "ir", "llvm", "mlir"],
    "frontend": ["frontend/syntax", "frontend/check", "frontend/format"],
    "ir": ["llvm", "mlir"],
    "passes/dyn": ["passes", "ir", "llvm", "mlir"],
    "passes/batch": ["passes", "ir", "llvm", "mlir"],
    "passes/lower": ["passes", "passes/batch", "ir", "llvm", "mlir"],
    "passes/kernel": ["passes", "ir", "llvm", "mlir"],
    "passes": ["ir", "llvm", "mlir"],
    "codegen/common": ["ir", "llvm", "mlir"],
    "codegen/cpu": ["codegen/common", "ir", "llvm", "mlir"],
    "codegen/cuda": ["codegen/common", "ir", "llvm", "mlir"],
    "codegen": ["codegen/*", "ir", "llvm", "mlir"],
    "cost": ["ir", "runtime", "llvm", "mlir"],
    "oracle": ["ir", "runtime", "llvm", "mlir"],
    "driver/surroundings": ["llvm"],
    "driver/weights": ["frontend/syntax", "runtime"],
    "driver/weights/fuzz": ["driver/weights", "frontend/syntax", "runtime", "runtime/fuzz", "runtime/tests"],
    "driver": ["driver/surroundings", "driver/weights", "ir", "frontend/*", "passes/*", "codegen/*", "cost", "oracle", "runtime/*"]
    + ["llvm", "mlir"],
    "lsp": ["frontend/syntax", "frontend/check", "frontend/format", "driver/surroundings", "llvm"],
    "runtime": [],
    "runtime/serve": ["runtime"],
    "runtime/train": ["runtime"],
    "runtime/mpi": ["runtime", "runtime/train"],
    "runtime/fuzz": ["runtime", "runtime/tests"],
    "runtime/tests": ["runtime", "runtime/train"],
    "python": ["runtime"],
    "examples": ["runtime/*"],
    "bench": ["runtime"],
}
ROOMS = set(RULES) | {"test"}


def room_of_path(path):
    """The innermost room that a file is in; None outside of all. A public header's is that which its name says."""
    if path.startswith("runtime/include/"):
        return room_of(path[len("runtime/include/") :], "")
    while path := os.path.dirname(path):
        if path in ROOMS:
            return path
    return None


def room_of(include, folder):
    """The room that a header belongs to, as a file in `folder` names it; None for foreign and generated ones."""
    if foreign := re.match(r"(llvm|mlir)(-c)?/", include):
        return foreign[1]
    if include.startswith("dbc/"):
        return "runtime/train" if include.startswith("dbc/train/") else "runtime/mpi" if include == "dbc/mpi.h" else "runtime"
    if include.startswith("."):
        include = os.path.normpath(os.path.join(folder, include))
    return room_of_path(include)


def is_allowed(room, rule):
    """Whether a rule's word names a room."""
    return room == rule or rule.endswith("/*") and (room + "/").startswith(rule[:-1])


def wrong_includes(root, path):
    """The messages about one file."""
    own = room_of_path(path)
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
            room = include and room_of(include[1], os.path.dirname(path))
            if room and not any(is_allowed(room, rule) for rule in [own] + RULES[own]):
                rooms = " ".join([own] + RULES[own])
                yield f"{path}:{number}: error: `{include[1]}` is of {room}; {own}/* may include headers of: {rooms}"


def main():
    root = sys.argv[1]
    wrong = []
    for room in sorted({rule.split("/")[0] for rule in RULES}):
        for folder, _, files in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(files):
                if name.endswith((".h", ".cpp", ".inc")):
                    wrong += wrong_includes(root, os.path.relpath(os.path.join(folder, name), root))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
