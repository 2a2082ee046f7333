"""A model whose file is called by a byte that is no UTF-8, through commands that write code, JSON and a page.

usage: file_names.py DBC FOLDER
Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import os
import subprocess
import sys

dbc, folder = sys.argv[1:]
os.chdir(folder)
model = b"a\xff.dyn"
with open(model, "w") as file:
    file.write("model a;\nentry e(x: f32) -> f32 { x + 1 }\n")
with open("in", "w") as file:
    file.write('{"args": {"x": 2}}\n')


def run(*arguments):
    return subprocess.run([dbc, arguments[0], model, *arguments[1:]], stdout=subprocess.PIPE, check=False)


print("compile:", run("compile", "--c-interface", "--target", "cpu,cuda", "-o", "out").returncode)
print("verify:", run("verify", "-n", "5").returncode)
done = run("run", "--input", "in", "--profile-json", "profile.json", "--profile-trace", "trace.json")
print("run:", done.returncode, done.stdout.decode().strip())
done = run("report", "--input", "in", "--json", "--html", "page.html")
print("report:", done.returncode)
json.loads(done.stdout)
for name in ("profile.json", "trace.json"):
    with open(name, encoding="utf-8") as file:
        json.load(file)
with open("page.html", encoding="utf-8") as file:
    file.read()
with open("out/a.json", encoding="utf-8") as file:
    print("source:", ascii(json.load(file)["source"]).replace("\\ufffd", "?").strip("'"))
