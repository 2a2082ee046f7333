"""Runs what the documents of the repository say: every *.md file but dsl/REFERENCE.md, which reference.py runs, and docs/python.md,
which test/python/document*.test do; every fenced block, each document in a folder of its own. dbc must be on the PATH.

usage: documents.py ROOT BUILD SCRATCH [DOCUMENT...]

What the line that opens a block says:
  ```console            a session: lines after `$ ` are commands, the lines below them what they print (both streams). A
                        command may fail, and must, where `error:` or `"error":` stands there. `...` is any text, alone on a
                        line any lines; numbers with a point may differ by 1e-4, as results do between machines.
  ```sh                 commands that succeed and whose words do not matter
  ```LANG file=NAME     a file; .dyn files must pass `dbc check` and `dbc fmt --check` without a word, others must be named by
                        a later command or file
  ```LANG not-run: WHY  not run; a program of the repository that it calls must exist
/path/to/dbc in a document stands for ROOT, and /path/to/dbc/build for BUILD. In the text, links and code spans that name files
of the repository must name existing ones, and code spans with a dbc command may have only options that its --help, or --help-all, lists.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^```(\S+)?(?: +(.*))?$")
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
TOKEN = re.compile(r"(?P<number>[-+]?\d+\.\d+(?:e[-+]?\d+)?|[-+]?\d+e-\d+)|(?P<any>\.\.\.)")


class Wrong(Exception):
    pass


def blocks(text):
    """(line number, language, what stands behind it, content) of each fenced block."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        at += 1
        if fence:
            start = at
            at = lines.index("```", at)
            yield start, fence[1] or "", fence[2] or "", "\n".join(lines[start:at]) + "\n"
            at += 1


def same(expected, printed):
    """Whether the output shown in a document is what was printed."""
    pattern, numbers = "", []
    for line in expected.splitlines(keepends=True):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
            continue
        last = 0
        for token in TOKEN.finditer(line):
            pattern += re.escape(line[last : token.start()])
            last = token.end()
            if token["any"]:
                pattern += ".*?"
            else:
                pattern += f"({NUMBER})"
                numbers.append(float(token["number"]))
        pattern += re.escape(line[last:])
    match = re.fullmatch(pattern, printed)
    return match and all(abs(float(x) - y) <= 1e-4 * max(1, abs(y)) for x, y in zip(match.groups(), numbers))


def run(command, folder):
    """(exit code, both streams) of a command for bash."""
    done = subprocess.run(["bash", "-euc", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def run_console(session, folder):
    """A `console` block: each command prints what stands below it."""
    for step in re.split(r"^\$ ", session, flags=re.M)[1:]:
        command, expected = re.fullmatch(r"((?:.*\\\n)*.*)\n((?:.*\n)*)", step).groups()
        code, printed = run(command, folder)
        if not same(expected, printed):
            raise Wrong(f"$ {command}\nthe document shows:\n{expected}it prints:\n{printed}")
        if (code != 0) != bool(re.search(r"\berror\"?:", expected)):
            raise Wrong(f"$ {command}\nexits with {code}, and prints:\n{printed}")


def check_not_run(content, root):
    """A `not-run` block: the programs exist."""
    for program in re.findall(r"^(?:\$ )?((?:scripts|test)/\S+)", content, flags=re.M):
        if not os.access(os.path.join(root, program), os.X_OK):
            raise Wrong(f"there is no program {program}")


def run_block(language, info, content, folder, root, later):
    if info.startswith("not-run: "):
        check_not_run(content, root)
    elif info.startswith("file="):
        name = info[len("file=") :]
        os.makedirs(os.path.dirname(os.path.join(folder, name)) or folder, exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)
        if name.endswith(".dyn"):
            code, printed = run(f"dbc check {name} && dbc fmt --check {name}", folder)
            if code or printed:
                raise Wrong(printed)
        elif not re.search(r"cmake -" if name.endswith("CMakeLists.txt") else re.escape(name), later):
            raise Wrong(f"nothing uses {name}")
    elif language == "console":
        run_console(content, folder)
    elif language == "sh":
        code, printed = run(content, folder)
        if code:
            raise Wrong(f"exits with {code}, and prints:\n{printed}")
    else:
        raise Wrong("a block is a `console`, `sh`, has `file=NAME`, or says `not-run: WHY`")


def check_text(text, folder, root):
    """Links and code spans outside of blocks; that there are no blocks but those that blocks() finds."""
    if re.search(r"^( +```|\s*~~~)", text, flags=re.M):
        raise Wrong("a block begins with three backticks and no space before them")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#:]+)\)", re.sub(r"`[^`\n]*`", "", prose)):
        if not os.path.exists(os.path.join(folder, target)):
            raise Wrong(f"there is no {target} to link to")
    rooms = {entry for entry in os.listdir(root) if os.path.isdir(os.path.join(root, entry))} - {"build"}
    for span in re.findall(r"`([^`\n]+)`", prose):
        words = span.split()
        if re.fullmatch(r"[\w.]+(/[\w.-]+)+", words[0]) and words[0].split("/")[0] in rooms:
            if not os.path.exists(os.path.join(root, words[0])):
                raise Wrong(f"there is no {words[0]}")
        elif words[0] == "dbc" and len(words) > 1:
            command = re.match(r"(?:[a-z][a-z-]*(?: |$))*", " ".join(words[1:]))[0] or words[1]
            code, printed = run(f"dbc {command} --help-all 2>/dev/null || dbc {command} --help", root)
            options = [option for option in re.findall(r" (--[\w-]+|-\w)", span) if option not in printed]
            if code or options:
                raise Wrong(f"`{span}`: dbc has no {' '.join(options) or command}")


def run_document(path, root, build, scratch):
    """Prints what is wrong; gives how many things are."""
    name = os.path.relpath(path, root)
    folder = os.path.join(scratch, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(path) as file:
        text = file.read()

    def attempt(line, check, *arguments):
        try:
            check(*arguments)
            return 0
        except Wrong as what:
            print(f"{name}:{line}: {what}")
            return 1

    wrong = attempt(1, check_text, text, os.path.dirname(path), root)
    text = text.replace("/path/to/dbc/build", build).replace("/path/to/dbc", root)
    found = list(blocks(text))
    for k, (line, language, info, content) in enumerate(found):
        later = "".join(block[3] for block in found[k + 1 :])
        wrong += attempt(line, run_block, language, info, content, folder, root, later)
    return wrong


def documents(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")) and f != "Inputs")
        names = (file for file in sorted(files) if file.endswith(".md") and file not in ("REFERENCE.md", "python.md"))
        yield from (os.path.join(folder, name) for name in names)


def main():
    root, build, scratch = (os.path.abspath(path) for path in sys.argv[1:4])
    paths = sys.argv[4:] or documents(root)
    return 1 if sum([run_document(path, root, build, scratch) for path in paths]) else 0


if __name__ == "__main__":
    sys.exit(main())
