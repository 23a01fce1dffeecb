#!/usr/bin/env python3
"""Who may include whom (CONTRIBUTING.md). Reads every C++ file of the rooms and names each include that breaks a rule.

Usage: check_includes.py [ROOT]     exit status 0: all is well, 1: something is not
"""
import pathlib
import re
import sys

ROOMS = ("planner", "sim", "backend", "tools", "tests")

# First match wins: files under the left path may include from these paths of ours (besides their own folder).
MAY_INCLUDE = (
    ("planner/ir", ()),
    ("planner/inputs", ("planner/ir",)),
    ("planner", ("planner",)),
    # op_graph and walk: estimate() and simulate() start from the same graph, so that they differ in the time of messages only.
    ("sim", ("planner/ir", "planner/inputs", "planner/cost/kernel_times.hpp", "planner/cost/linear_work.hpp", "planner/cost/op_graph.hpp",
             "planner/cost/walk.hpp")),
    ("backend", ("planner/ir", "planner/inputs", "planner/cost/kernel_times.hpp")),
    ("tools", ("planner", "sim", "backend")),
    ("tests", ("planner", "sim", "backend", "tools")),
)

# Headers of a library (by how the include begins) belong to these places only.
LIBRARIES = (
    ("simgrid/", ("sim",)),
    ("xbt", ("sim",)),
    ("boost/graph/", ("planner/inputs",)),
    ("boost/", ("planner/inputs", "planner/placement", "planner/ir/in_place_list.hpp")),
    ("yaml-cpp/", ("planner/inputs",)),
    ("cuda", ("backend/cuda",)),
    ("nccl", ("backend/cuda",)),
    ("cudnn", ("backend/cuda",)),
    ("mpi.h", ("backend/mpi",)),
    ("CLI/", ("tools", "tests/tools")),
    ("catch2/", ("tests",)),
    ("benchmark/", ("tests/bench",)),
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def lies_in(path, place):
    return path == place or path.startswith(place + "/")


def problem_with_ours(root, file, header):
    """Why `file` may not include our `header`, or None. Both are paths from the root."""
    if not (root / header).is_file():
        return "no such file; write includes from the root of the repository"
    own, allowed = next((own, allowed) for own, allowed in MAY_INCLUDE if lies_in(file, own))
    if lies_in(header, own) or any(lies_in(header, place) for place in allowed):
        return None
    return f"{own} may include {', '.join(allowed) if allowed else 'nothing of ours but itself'}"


def problem_with_library(file, header):
    for begin, places in LIBRARIES:
        if header.startswith(begin) and not any(lies_in(file, place) for place in places):
            return f"{begin.rstrip('/')} belongs to {', '.join(places)}"
    return None


def check_file(root, path):
    file = path.relative_to(root).as_posix()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, header = found.groups()
        problem = problem_with_ours(root, file, header) if quote == '"' else problem_with_library(file, header)
        if problem:
            yield f"{file}:{number}: includes {header}: {problem}"


def main(root):
    files = [path for room in ROOMS for path in sorted((root / room).rglob("*")) if path.suffix in (".hpp", ".cpp", ".cu", ".cuh")]
    if not files:
        print(f"check_includes: no C++ files under {root}", file=sys.stderr)
        return 1
    problems = [problem for path in files for problem in check_file(root, path)]
    for problem in problems:
        print(problem)
    print(f"check_includes: {len(files)} files, {len(problems)} includes that break a rule")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))
