"""The commands that the README shows work as shown, one after the other in one folder."""
import os
import pathlib
import re
import shlex
import subprocess
import unittest

from commands import BIN_DIR, SOURCE_DIR, CommandTest


class Readme(CommandTest):
    def commands(self):
        text = (SOURCE_DIR / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        return [shlex.split(line, comments=True) for line in lines if line.startswith("hsap-")]

    def test_every_command_succeeds(self):
        commands = self.commands()
        self.assertGreaterEqual(len(commands), 6)
        environment = os.environ | {"PATH": f"{BIN_DIR}{os.pathsep}{os.environ['PATH']}"}
        for command in commands:
            with self.subTest(" ".join(command)):
                done = subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_file_it_points_to_is_there(self):
        text = (SOURCE_DIR / "README.md").read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        rooms = re.findall(r"`((?:planner|sim|backend|topologies|traces|tests|tools)/[\w./]*)`", text)
        self.assertGreater(min(len(links), len(rooms)), 5)
        for path in links + rooms:
            self.assertTrue((SOURCE_DIR / pathlib.Path(path)).exists(), path)


if __name__ == "__main__":
    unittest.main()
