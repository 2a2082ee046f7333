"""Writes huge inputs for chain.dyn and wide.dyn as JSON lines.

usage: make_huge.py chain|wide|batch N     a chain of N nodes, a node with N children, N trees of one node

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import sys

shape, count = sys.argv[1], int(sys.argv[2])
leaf = '{"Node": {"x": 0.5, "children": []}}'
if shape == "chain":
    links = "".join(', {"Link": {"next": %d, "x": 0.25}}' % i for i in range(count - 1))
    print('{"nodes": [{"End": {}}%s], "args": {"c": %d}}' % (links, count - 1))
elif shape == "wide":
    root = '{"Node": {"x": 0.5, "children": [%s]}}' % ", ".join(map(str, range(count)))
    print('{"nodes": [%s, %s], "args": {"t": %d}}' % (", ".join([leaf] * count), root, count))
else:
    sys.stdout.write('{"nodes": [%s], "args": {"t": 0}}\n' % leaf * count)
