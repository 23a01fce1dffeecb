"""After cmake --install the commands find their data beside themselves, from any folder."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from commands import CommandTest


class Installed(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.prefix_folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.prefix_folder.cleanup)
        cls.prefix = pathlib.Path(cls.prefix_folder.name)
        subprocess.run([os.environ["HSAP_CMAKE"], "--install", os.environ["HSAP_BUILD_DIR"], "--prefix", cls.prefix], check=True,
                       stdout=subprocess.DEVNULL)
        cls.bin_dir = cls.prefix / "bin"
        # Another name than in the source tree, so that finding it proves where it was found.
        topologies = cls.prefix / "share" / "hsap" / "topologies"
        (topologies / "dgx-h100-2.yaml").rename(topologies / "installed-here.yaml")

    def test_built_in_data_is_found_beside_the_installed_command(self):
        text = self.succeed("hsap-plan", "list")
        self.assertIn("installed-here", text)
        self.assertNotIn("dgx-h100-2", text)

    def test_the_installed_commands_plan_and_run(self):
        self.succeed("hsap-plan", "plan", "--cluster", "installed-here", "--gpus", 2, "--tokens", 500, "--out", "plan.json")
        self.assertIn("passed", self.succeed("hsap-run", "plan.json", "--verify"))

    def test_another_data_folder_can_be_named(self):
        self.assertIn("dgx-h100-2", self.succeed("hsap-plan", "list", HSAP_DATA_DIR=str(pathlib.Path(__file__).parents[2])))


if __name__ == "__main__":
    unittest.main()
