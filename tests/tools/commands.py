"""Runs hsap-plan and hsap-run the way a user does, in an empty folder of their own."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN_DIR = pathlib.Path(os.environ["HSAP_BIN_DIR"])
SOURCE_DIR = pathlib.Path(__file__).resolve().parents[2]

# A problem that every command finishes in a moment.
SMALL = ("--gpus", "4", "--tokens", "320", "--lengths", str(SOURCE_DIR / "tests" / "tools" / "short-documents.txt"))


class CommandTest(unittest.TestCase):
    bin_dir = BIN_DIR

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, name, *arguments, **environment):
        env = {key: value for key, value in os.environ.items() if key != "HSAP_DATA_DIR"}
        env.update(environment)
        return subprocess.run([self.bin_dir / name, *map(str, arguments)], cwd=self.folder, env=env, text=True, capture_output=True,
                              check=False)

    def succeed(self, name, *arguments, **environment):
        """Standard output of a command that must work and be silent on standard error."""
        done = self.run_command(name, *arguments, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def succeed_json(self, name, *arguments):
        return json.loads(self.succeed(name, *arguments, "--json"))

    def refuse(self, status, name, *arguments, **environment):
        """The one line on standard error of a command that must fail with this exit status."""
        done = self.run_command(name, *arguments, **environment)
        self.assertEqual(done.returncode, status, done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(name + ": "), done.stderr)
        return done.stderr

    def make_plan(self, *arguments):
        """A plan file for the small problem."""
        self.succeed("hsap-plan", "plan", *SMALL, *arguments, "--out", "plan.json")
        return self.folder / "plan.json"
