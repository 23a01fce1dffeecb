"""--as-published: what original code does that does not look at documents, and that it shows."""
import unittest

from commands import SMALL, CommandTest


class Published(CommandTest):
    def test_contaminated_rows_say_so_and_are_never_the_best(self):
        out = self.succeed_json("hsap-plan", "compare", *SMALL, "--as-published")
        documents_ignored = {row["strategy"]: row["contaminates"] for row in out["results"] if row["contaminates"]}
        self.assertEqual(set(documents_ignored), {"usp", "double-ring", "zigzag", "ring", "stripe", "burst", "distflashattn", "lasp",
                                                  "lasp2", "zeco"})
        self.assertNotIn(out["best"], documents_ignored)
        right = self.succeed_json("hsap-plan", "compare", *SMALL)
        self.assertTrue(all(row["contaminates"] is None for row in right["results"]))

    def test_wrong_pairs_are_those_of_one_document_less_those_of_all(self):
        (self.folder / "lengths.txt").write_text("10\n20\n3\n", encoding="utf-8")
        row = self.succeed_json("hsap-plan", "compare", "--gpus", 2, "--tokens", 33, "--lengths", "lengths.txt", "--strategy", "ring",
                                "--as-published")["results"][0]
        wrong = 33 * 34 // 2 - 10 * 11 // 2 - 20 * 21 // 2 - 3 * 4 // 2
        self.assertEqual(row["contaminates"]["wrong_pairs"], wrong)
        flops_per_pair = 32 * (2 * 256 + 2 * 5 * 128)  # heads x (forward + backward)
        self.assertAlmostEqual(row["contaminates"]["wasted_flops"] / (wrong * flops_per_pair), 1)

    def test_the_table_marks_them(self):
        text = self.succeed("hsap-plan", "compare", *SMALL, "--as-published")
        ring = next(line for line in text.splitlines() if line.startswith("ring "))
        self.assertTrue(ring.endswith("contaminates"), ring)
        self.assertIn("as published contaminates", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_running_one_shows_the_error_it_causes(self):
        for strategy in ("ring", "lasp"):
            with self.subTest(strategy):
                text = self.succeed("hsap-plan", "plan", *SMALL, "--strategy", strategy, "--as-published", "--out", "plan.json")
                self.assertIn("contaminates", text)
                done = self.run_command("hsap-run", "plan.json", "--verify", "--json")
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("attends across documents", done.stderr)
                self.assertIn('"passed": false', done.stdout)
                self.assertIn('"contaminated": true', done.stdout)


if __name__ == "__main__":
    unittest.main()
