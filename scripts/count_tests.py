"""Adds up the test reports that ctest and lit left in a folder and prints `N passed, N failed[, N skipped]`.

usage: count_tests.py FOLDER NAME...   reads FOLDER/NAME.xml; a report that is missing, broken or empty counts as one failure

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import sys
import xml.etree.ElementTree as xml


def outcome(case):
    """What a <testcase> says: "failed", "skipped" or "passed"."""
    if case.get("status") == "fail" or case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
        return "skipped"
    return "passed"


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name in names:
        try:
            cases = list(xml.parse(os.path.join(folder, name + ".xml")).iter("testcase"))
        except (OSError, xml.ParseError) as error:
            cases = []
            print(f"{name}: {error}", file=sys.stderr)
        if not cases:
            print(f"{name}: no report of a test, see the output above", file=sys.stderr)
            count["failed"] += 1
        for case in cases:
            result = outcome(case)
            count[result] += 1
            if result == "failed":
                print(f"FAILED {name}: {case.get('classname', '')} {case.get('name')}", file=sys.stderr)
    sys.stderr.flush()
    line = f"{count['passed']} passed, {count['failed']} failed"
    print(line + (f", {count['skipped']} skipped" if count["skipped"] else ""))
    return 1 if count["failed"] or not count["passed"] else 0


sys.exit(main())
