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

# Every strategy, with degrees that 4 GPUs allow.
STRATEGIES = {"hsap": "2x2", "ulysses": "4x1", "usp": "2x2", "te-a2a-p2p": "2x2", "double-ring": "2x2", "zigzag": "1x4", "ring": "1x4",
              "stripe": "1x4", "burst": "1x4", "allgather": "1x4", "wlb": "1x4", "megatron-sp": "4x1", "blockdiag": "1x4",
              "distflashattn": "1x4", "magi": "1x4", "dcp": "1x4", "hybrid-cp": "1x4", "zeppelin": "1x4", "lasp": "1x4", "lasp2": "1x4",
              "zeco": "1x4"}


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
