"""tests/check_includes.py finds what it is there to find."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[1] / "check_includes.py"


class CheckIncludes(unittest.TestCase):
    def check(self, files):
        """Exit status and output of the check on a tree with these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, CHECK, folder], text=True, capture_output=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_rooms_may_include_what_the_house_allows(self):
        status, output = self.check({
            "planner/ir/a.hpp": "#include <vector>\n",
            "planner/inputs/b.hpp": '#include "planner/ir/a.hpp"\n#include <boost/graph/adjacency_list.hpp>\n',
            "sim/c.cpp": '#include "planner/inputs/b.hpp"\n#include <simgrid/s4u.hpp>\n',
            "tools/d.cpp": '#include "sim/c.cpp"\n#include <CLI/CLI.hpp>\n',
        })
        self.assertEqual(status, 0, output)

    def test_each_forbidden_include_is_named_with_its_line(self):
        forbidden = {
            "planner/ir/a.hpp": "planner/inputs/b.hpp",
            "planner/inputs/b.hpp": "planner/search/c.hpp",
            "planner/search/c.hpp": "sim/d.hpp",
            "sim/d.hpp": "backend/e.hpp",
            "backend/e.hpp": "planner/search/c.hpp",
            "tools/f.hpp": "tests/g.hpp",
            "tests/g.hpp": "planner/no_such_file.hpp",
        }
        status, output = self.check({file: f'// a comment\n#include "{header}"\n' for file, header in forbidden.items()})
        self.assertEqual(status, 1)
        for file, header in forbidden.items():
            self.assertIn(f"{file}:2: includes {header}", output)

    def test_libraries_stay_in_their_rooms(self):
        for header, file in (("simgrid/s4u.hpp", "tools/a.cpp"), ("boost/graph/graph_traits.hpp", "planner/cost/a.cpp"),
                             ("CLI/CLI.hpp", "sim/a.cpp"), ("mpi.h", "sim/a.cpp"), ("cuda_runtime.h", "backend/cpu/a.cpp"),
                             ("nccl.h", "tools/a.cpp"), ("catch2/catch.hpp", "sim/a.cpp")):
            status, output = self.check({file: f"#include <{header}>\n"})
            self.assertEqual(status, 1, header)
            self.assertIn(header, output)

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(self.check({"README.md": ""})[0], 1)


if __name__ == "__main__":
    unittest.main()
