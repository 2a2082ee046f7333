"""Follows the links between the Markdown pages in a folder, and prints those that lead nowhere and how many do not.

usage: document_links.py FOLDER
Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
followed = 0
for page in sorted(folder.rglob("*.md")):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)  # code has brackets too
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target = link.split("#")[0]
        if not target or "://" in target:
            continue
        if target.endswith("/dbc/mpi.h") and not (folder / "../dbc-mpi").exists():
            continue
        if (page.parent / target).exists():
            followed += 1
        else:
            print(f"{page.relative_to(folder)}: {link} leads nowhere")
print(f"{followed} links lead somewhere")
