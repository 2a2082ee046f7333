"""Checks README's support matrix by programs: each `.dyn` file of a folder begins with `// README: ` and the words of one or
more rows. Where the row says `yes`, `dbc verify` must agree; where it says `not yet`, dbc must say that it is not supported yet.

usage: support.py README FOLDER DRAWS

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import pathlib
import re
import subprocess
import sys


def dbc(*arguments):
    done = subprocess.run(["dbc", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def main():
    readme, folder, draws = sys.argv[1:]
    rows = dict(re.findall(r"^\|[^|]*\| (.*?) \| (yes|not yet) \|$", pathlib.Path(readme).read_text(), flags=re.M))
    wrong = [] if rows else ["README has no support matrix"]
    unproven = set(rows)
    for program in sorted(pathlib.Path(folder).glob("*.dyn")):
        topics = re.findall(r"^// README: (.*)$", program.read_text(), flags=re.M)
        states = {rows.get(topic) for topic in topics}
        unproven -= set(topics)
        if len(states) != 1 or None in states:
            wrong.append(f"{program.name}: its rows do not stand in README, or say different things: {topics}")
        elif states == {"yes"}:
            code, said = dbc("verify", program, "-n", draws)
            if code:
                wrong.append(f"{program.name}: README says that this works: {topics}\n{said}")
        else:
            code, said = dbc("compile", program, "--emit", "kernel")
            if code != 1 or "not supported yet" not in said:
                wrong.append(f"{program.name}: README says that this is not supported yet: {topics}\n{said}")
    wrong += [f"no program shows: {topic}" for topic in sorted(unproven)]
    print("\n".join(wrong) or f"{len(rows)} rows hold")
    return 1 if wrong else 0


sys.exit(main())
