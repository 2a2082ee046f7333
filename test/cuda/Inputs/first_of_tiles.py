"""Prints inputs of first_of_tiles.dyn: element 5 fails, and one of another tile, of which there are 8. Part of dbc, under Apache-2.0
WITH LLVM-exception; see LICENSE."""
import json

for other in (17, 21):
    ks = [1] * 128
    ks[5], ks[other] = 70001, 80001
    leaf = {"Leaf": {"x": [0.0] * 128, "k": ks}}
    print(json.dumps({"nodes": [leaf, leaf, {"Node": {"left": 0, "right": 1}}], "args": {"t": 2}}))
