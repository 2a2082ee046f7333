"""Runs dsl/REFERENCE.md, the manual of the language: every program in it does what stands behind it.

usage: reference.py ROOT SCRATCH          (dbc on the PATH; DBC_UPDATE=1 writes what is printed into the manual, to be read)

The blocks of the manual:
  ```dyn       a program as `dbc fmt` writes it, in a file that is called as it calls itself; options for dbc (`-Dn=3`) may follow. Alone it is an example: `dbc check` has nothing to say,
               and `dbc verify` agrees on all its entries. A module may be imported by the programs behind it in its section.
  ```json      behind a program: inputs for it, one a line
  ```text      behind a program: the whole of what `dbc check` prints, or `dbc compile` where check has nothing to say; behind
               inputs: the lines of results and errors, for `dbc run` and `dbc interpret` alike
  ```grammar   rules of dsl/Dyn.g4, with the words for the tokens
Beside the programs, the manual has to have a section with an example for each rule, tables that name exactly the built-in
functions, the names of other systems that get a hint, and the members of module nn, and each rule of the grammar once.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

from documents import Wrong, blocks, check_text, same

RULES = {"N": 7, "T": 7, "S": 4, "D": 4, "C": 8, "L": 3, "B": 3, "G": 3, "E": 2}
DRAWS = 5

Block = collections.namedtuple("Block", "line language info content section")


def sectioned(text):
    """The blocks, each with the heading that it stands under."""
    found = list(blocks(text))
    inside = {line + k for line, _, _, content in found for k in range(content.count("\n"))}
    heads = [
        (number, head[1])
        for number, line in enumerate(text.split("\n"))
        if number not in inside and (head := re.match(r"^###? (.*)$", line))
    ]
    for block in found:
        yield Block(*block, next((head for number, head in reversed(heads) if number < block[0]), ""))


#---- Programs ----


class Program:
    """A `dyn` block and what stands behind it."""

    def __init__(self, block, root, folder):
        self.block, self.root, self.folder = block, root, folder
        name = re.search(r"^(model|module) (\w+);", block.content, flags=re.M)
        if not name:
            raise Wrong("a program begins with `model NAME;` or `module NAME;`")
        self.file = name[2] + ".dyn"
        self.inputs = self.printed = None

    def is_example(self):
        """Whether it shows what works, or what will."""
        return not self.printed or bool(self.inputs) or "not supported yet" in self.printed.content

    def dbc(self, command, *options, given=None):
        """(exit code, stdout, stderr)"""
        done = subprocess.run(
            ["dbc", command, self.file, *self.block.info.split(), *options],
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr.replace(self.root + "/", "")

    def silent(self, command, *options):
        code, out, words = self.dbc(command, *options)
        if code or words:
            raise Wrong(f"`dbc {command}` exits with {code}, and prints:\n{words}{out}")

    def words(self, command, *options):
        """What a command says about the program."""
        code, _, words = self.dbc(command, *options)
        if code != bool(re.search(r"^(\S+: )?error: ", words, flags=re.M)):
            raise Wrong(f"`dbc {command}` exits with {code}, and prints:\n{words}")
        return words

    def results(self, command):
        """What a command prints for the inputs."""
        code, out, words = self.dbc(command, given=self.inputs.content)
        if words or code != ('"error":' in out):
            raise Wrong(f"`dbc {command}` exits with {code}, and prints:\n{words}{out}")
        return out

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        try:
            with open(os.path.join(self.folder, self.file), "x") as file:
                file.write(self.block.content)
        except FileExistsError:
            raise Wrong(f"a second program is called {self.file} in this section")

    def check_format(self):
        """What can be formatted is: all but what shows an error of syntax."""
        done = subprocess.run(["dbc", "fmt"], input=self.block.content, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout != self.block.content:
            raise Wrong(f"`dbc fmt` makes it:\n{done.stdout}")

    def run(self):
        """What is printed, "" where it is an example that works."""
        self.check_format()
        if self.printed and not self.inputs:
            return self.words("check") or self.words("compile", "--emit=kernel")
        self.silent("check")
        if not self.inputs:
            if re.search(r"^(entry|loss) ", self.block.content, flags=re.M):
                self.silent("verify", f"-n{DRAWS}")
            return ""
        expected = self.results("run")
        interpreted = self.results("interpret")
        if not same(expected, interpreted):
            raise Wrong(f"`dbc run` prints:\n{expected}`dbc interpret` prints:\n{interpreted}")
        return expected


def programs(all_blocks, root, scratch):
    program = None
    for block in all_blocks:
        if block.language == "dyn":
            if program:
                yield program
            program = Program(block, root, os.path.join(scratch, re.sub(r"\W+", "_", block.section)))
        elif block.language == "json" and program and not program.printed:
            program.inputs = block
        elif block.language == "text" and program and not program.printed:
            program.printed = block
        elif block.language != "grammar":
            raise Wrong(f"line {block.line}: a `{block.language}` block does not stand behind a program")
    if program:
        yield program


#---- What the manual has to have ----


def check_rules(all_programs):
    shown = {program.block.section.split(" ")[0] for program in all_programs if program.is_example()}
    missing = [rule for letter, count in RULES.items() for n in range(count) if (rule := f"{letter}{n + 1}") not in shown]
    if missing:
        raise Wrong("no section, or no example that works in it: " + " ".join(missing))


def difference(what, manual, source):
    if manual != source:
        raise Wrong(f"{what}: only in the manual: {sorted(manual - source)}, missing: {sorted(source - manual)}")


def table(text, heading):
    """The rows of the tables under a heading: of each cell the code spans."""
    section = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", text, flags=re.M | re.S)
    if not section:
        raise Wrong(f"there is no section {heading}")
    rows = re.findall(r"^\| (`.*) \|$", section[1], flags=re.M)
    return [[re.findall(r"`([^`]+)`", cell) for cell in row.split(" | ")] for row in rows]


def check_builtins(text, root, all_blocks):
    with open(os.path.join(root, "frontend/check/Builtins.def")) as file:
        names = set(re.findall(r'^DBC_BUILTIN\(\w+, "(\w+)"', file.read(), flags=re.M))
    with open(os.path.join(root, "frontend/check/Builtins.cpp")) as file:
        source = file.read()
    rows = table(text, "Built-in functions")
    difference("built-in functions", {re.match(r"\w+", span)[0] for row in rows for span in row[0]}, names)
    used = "".join(block.content for block in all_blocks if block.language == "dyn")
    difference("built-in functions in programs", {name for name in names if re.search(rf"\b{name}[(\[]", used)}, names)
    hints, shown = set(), set()
    for kind, body in re.findall(r"> k(Type|)Idioms = \{\n(.*?)^\};", source, flags=re.M | re.S):
        hints |= {(kind, *entry) for entry in re.findall(r'^ +\{"(\w+)", "(.*)"\},$', body, flags=re.M)}
    section = text[text.index("### Names of other systems") :].split("\n#")[0]
    for kind, body in zip(("", "Type"), section.split("\n| Type | Hint |")):
        for row in re.findall(r"^\| (`.*) \|$", body, flags=re.M):
            cells = row.split(" | ", 1)
            shown |= {(kind, name, cells[1]) for name in re.findall(r"`(\w+)`", cells[0])}
    difference("names of other systems", shown, hints)


def members(module):
    """The members of a module as they are written: {head: spans of its params, consts and functions}."""
    found, head = {}, None
    for line in re.sub(r"//.*", "", module).split("\n"):
        if top := re.match(r"(layer|record) (\w+(?:\[.*?\])?)", line):
            head = top[2]
            found[head] = set(re.findall(r"(\w+: [^;]+);", line)) if top[1] == "record" else set()
        elif function := re.match(r"(  )?fn (.*?) \{", line):
            found.setdefault(head if function[1] else function[2], set()).update({function[2]} if function[1] else ())
        elif params := re.match(r"  param (.*);", line):
            found[head] |= {re.sub(r" = .*", "", one) for one in re.split(r", (?=\w+:)", params[1])}
    return found


def check_library(text, root):
    with open(os.path.join(root, "dsl/lib/nn.dyn")) as file:
        source = members(file.read())
    manual = {row[0][0]: {span for cell in row[1:3] for span in cell} for row in table(text, "Module nn")}
    difference("module nn", set(manual), set(source))
    for head, spans in source.items():
        difference(head, manual[head], spans)


def rules(text, words):
    """{name: its tokens} of the parser rules in a grammar."""
    text = re.sub(r"//.*", "", text)
    return {
        name: [words.get(token, token) for token in re.findall(r"'[^']*'|\w+|\S", body)]
        for name, body in re.findall(r"^([a-z]\w*)\s*:((?:[^;']|'[^']*')*);", text, flags=re.M)
    }


def check_grammar(all_blocks, root):
    with open(os.path.join(root, "dsl/Dyn.g4")) as file:
        source = file.read()
    words = dict(re.findall(r"^([A-Z]\w*)\s*: ('[^']*') ;", source, flags=re.M))
    words.update(BINDER="ID", LRECORD="'{'")
    manual = rules("\n".join(block.content for block in all_blocks if block.language == "grammar"), {})
    expected = rules(source, words)
    difference("rules of the grammar", set(manual), set(expected))
    for name, tokens in expected.items():
        if manual[name] != tokens:
            raise Wrong(f"the grammar's rule {name} is: {' '.join(tokens)}")


#---- All of it ----


def update(path, text, updates):
    """Writes what is printed in the place of what the manual shows."""
    lines = text.split("\n")
    for shown, printed in reversed(updates):
        lines[shown.line : shown.line + shown.content.count("\n")] = printed.rstrip("\n").split("\n")
    with open(path, "w") as file:
        file.write("\n".join(lines))


def main():
    root, scratch = (os.path.abspath(path) for path in sys.argv[1:])
    path = os.path.join(root, "dsl/REFERENCE.md")
    with open(path) as file:
        text = file.read()
    shutil.rmtree(scratch, ignore_errors=True)
    wrong = []

    def attempt(line, check, *arguments):
        try:
            return check(*arguments)
        except Wrong as what:
            wrong.append((line, what))

    all_blocks = list(sectioned(text))
    all_programs = attempt(1, lambda: list(programs(all_blocks, root, scratch))) or []
    for program in all_programs:
        attempt(program.block.line, program.write)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda program: attempt(program.block.line, program.run), all_programs))
    updates = []
    for program, printed in zip(all_programs, results):
        shown = program.printed
        agrees = same if program.inputs else str.__eq__
        if printed is not None and shown and not agrees(shown.content, printed):
            updates.append((shown, printed))
    if os.environ.get("DBC_UPDATE"):
        update(path, text, updates)
    else:
        wrong += [(shown.line, f"the manual shows:\n{shown.content}it prints:\n{printed}") for shown, printed in updates]
    attempt(1, check_text, text, os.path.dirname(path), root)
    attempt(1, check_rules, all_programs)
    attempt(1, check_builtins, text, root, all_blocks)
    attempt(1, check_library, text, root)
    attempt(1, check_grammar, all_blocks, root)
    for line, what in sorted(wrong, key=lambda one: one[0]):
        print(f"REFERENCE.md:{line}: {what}")
    if not wrong:
        print(f"{len(all_programs)} programs do what the manual says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
