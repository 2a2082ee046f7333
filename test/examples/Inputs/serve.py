"""Asks the server of examples/serve, and prints what it answers.

usage: serve.py SERVE           wrong requests and right ones, alone and from several clients at once
       serve.py SERVE --twice   a second server on the port of the first

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

TREES = ["((17 2) 9)", "20000", "((1 2)", "(1 2))", "(1 2 3)", "()", "1 2", "", "word", "99999999999"]


def ask(url, data=None):
    """The status and the text of an answer."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, data) as answer:
            return answer.status, answer.read().decode().strip()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode().strip()


def talk(url):
    for tree in TREES:
        print(f"{tree}:", *ask(url + "/sentiment", tree.encode()))
    trees = [f"(({i} 2) ({i} ({i} 3)))".encode() for i in range(10)]
    alone = {tree: ask(url + "/sentiment", tree) for tree in trees}
    with ThreadPoolExecutor(8) as clients:
        together = list(clients.map(lambda tree: ask(url + "/sentiment", tree), trees * 40))
    same = together == [alone[tree] for tree in trees * 40] and len(set(together)) == len(trees)
    print("400 requests of 8 clients:", "as alone" if same else together)
    counters = ask(url + "/metrics")[1].splitlines()
    print(*(line for line in counters if line.startswith("dbc_requests_total") and not line.endswith(" 0")), sep="\n")


def main():
    program, *more = sys.argv[1:]
    server = subprocess.Popen([program, "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        if more:
            print("exit", subprocess.run([program, url.rsplit(":", 1)[1]], timeout=60).returncode)
        else:
            talk(url)
    finally:
        server.terminate()
        server.wait()
    if not more:
        print("exit", server.returncode)


main()
