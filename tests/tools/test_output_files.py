"""Output files appear whole or not at all."""
import os
import unittest

from commands import SMALL, CommandTest


class OutputFiles(CommandTest):
    def plan_to(self, out):
        return ("plan", *SMALL, "--strategy", "zigzag", "--out", out)

    def test_a_plan_leaves_nothing_but_itself(self):
        self.make_plan("--strategy", "zigzag")
        self.assertEqual(os.listdir(self.folder), ["plan.json"])

    def test_what_cannot_be_written_is_said_before_any_work_and_leaves_nothing(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        for out in ("missing/plan.json", ".", "file/plan.json", "/dev/null", ""):
            self.refuse(1, "hsap-plan", *self.plan_to(out))
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_a_failure_leaves_the_old_file_as_it_was(self):
        (self.folder / "plan.json").write_text("old", encoding="utf-8")
        self.refuse(1, "hsap-plan", "plan", *SMALL, "--strategy", "usp", "--degrees", "3x1", "--out", "plan.json")
        self.assertEqual((self.folder / "plan.json").read_text(encoding="utf-8"), "old")
        self.assertEqual(os.listdir(self.folder), ["plan.json"])

    def test_a_link_is_followed_not_replaced(self):
        (self.folder / "link.json").symlink_to("target.json")
        self.succeed("hsap-plan", *self.plan_to("link.json"))
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertGreater((self.folder / "target.json").stat().st_size, 0)


if __name__ == "__main__":
    unittest.main()
