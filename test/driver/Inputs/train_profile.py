"""Whether the numbers in a profile of a training add up. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import json
import sys

profile = json.load(open(sys.argv[1]))
work, stages = profile["work"], profile["loss"]["stages"]
assert sum(work.values()) == profile["ns"] and min(work.values()) >= 0, profile
for backward in (False, True):
    of_pass = [stage for stage in stages if stage.get("backward", False) == backward]
    assert of_pass and sum(stage["ns"] for stage in of_pass) == work["backward" if backward else "forward"] > 0, of_pass
for stage in stages:
    role = stage["name"].split(".")[-1]
    assert role not in ("adjoint", "gradient", "again", "clear") or stage.get("backward"), stage
assert profile["steps"] == 16 and work["update of params"] > 0 and work["exchange with other ranks"] == 0, profile
