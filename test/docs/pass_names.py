"""Each pass that a page, or the description of another one, names is one of dbc-opt.

usage: dbc-opt --help | pass_names.py ROOT

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import glob
import re
import sys

PAGES = ("*.md", "docs/*.md", "dsl/*.md", "ir/*/*.md", "ir/*/*.td", "passes/*/*.td")


def main(root):
    flags = set(re.findall("--([a-z0-9-]+)", sys.stdin.read()))
    named = {}
    for pattern in PAGES:
        for path in glob.glob(f"{root}/{pattern}"):
            with open(path, encoding="utf-8") as file:
                for name in re.findall(r"\b(?:dyn|batch|kernel|schedule)-[a-z-]*[a-z]\b", file.read()):
                    if not name.startswith("dyn-mode"):  # of Emacs
                        named.setdefault(name, path)
    wrong = [f"{path}: {name} is no pass" for name, path in sorted(named.items()) if name not in flags]
    print("\n".join(wrong))
    return 1 if wrong or len(named) < 30 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
