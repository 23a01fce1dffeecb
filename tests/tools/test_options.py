"""Options of strategies on the command line: forced ones are used, unknown ones are refused, ragged heads."""
import json
import unittest

from commands import SMALL, STRATEGIES, CommandTest


class Options(CommandTest):
    def compare(self, *arguments):
        return self.succeed_json("hsap-plan", "compare", *SMALL, "--evaluator", "estimate", *arguments)["results"]

    def test_a_forced_option_is_used_by_the_strategies_that_have_it(self):
        results = self.compare("--stages", 3, "--dkv-dtype", "fp32")
        rows = {row["strategy"]: row["options"] for row in results}
        self.assertEqual((rows["magi"]["stages"], rows["magi"]["dkv-dtype"]), (3, "fp32"))
        self.assertEqual(rows["zigzag"], {"dkv-dtype": "fp32"})
        self.assertEqual(rows["ulysses"], {})
        zeco = next(row for row in results if row["strategy"] == "zeco")
        self.assertEqual((zeco["valid"], "3 stages do not divide" in zeco["reason"]), (False, True))

    def test_fp32_gradients_on_the_wire_cost_more_bytes_than_bf16(self):
        sent = [self.compare("--strategy", "zigzag", "--dkv-dtype", dtype)[0]["bytes_sent_busiest_rank"] for dtype in ("bf16", "fp32")]
        self.assertLess(sent[0], sent[1])

    def test_kept_keys_are_not_sent_again(self):
        kept, again = (self.succeed_json("hsap-plan", "compare", "--strategy", "ring", "--kv", kv)["results"][0]
                       for kv in ("kept", "again"))
        self.assertLess(kept["bytes_sent_busiest_rank"], again["bytes_sent_busiest_rank"])
        self.assertGreater(kept["peak_memory_bytes"], again["peak_memory_bytes"])

    def test_plans_keep_their_options(self):
        self.succeed("hsap-plan", "plan", *SMALL, "--strategy", "double-ring", "--degrees", "1x4", "--window", 2, "--out", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        self.assertEqual(plan["options"], {"window": 2})
        self.assertTrue(self.succeed_json("hsap-run", "plan.json", "--verify")["verify"]["passed"])

    def test_options_that_no_strategy_has_or_with_wrong_values_are_refused(self):
        line = self.refuse(1, "hsap-plan", "compare", *SMALL, "--strategy", "ulysses", "--stages", 2)
        self.assertIn("--stages: no strategy compared has this option; hsap", line)
        self.assertIn("expected one of kept, again", self.refuse(1, "hsap-plan", "compare", *SMALL, "--kv", "both"))
        self.assertIn("expected a whole number from 1", self.refuse(1, "hsap-plan", "compare", *SMALL, "--block", "0"))
        line = self.refuse(1, "hsap-plan", "plan", *SMALL, "--strategy", "double-ring", "--degrees", "1x4", "--window", 3, "--out", "p.json")
        self.assertIn("windows that do: 1, 2, 4", line)

    def test_a_buffer_limits_what_ranks_receive_at_once(self):
        free = self.compare("--strategy", "hsap", "--degrees", "1x4")[0]
        size = free["communication_buffer_bytes"] // 2
        row = self.compare("--strategy", "hsap", "--degrees", "1x4", "--buffer", f"{size:.0f} B")[0]
        self.assertTrue(row["fits"])
        self.assertLessEqual(row["communication_buffer_bytes"], size)
        self.assertGreaterEqual(row["seconds_for_buffer"], 0)
        line = self.refuse(1, "hsap-plan", "plan", *SMALL, "--strategy", "hsap", "--buffer", "1 B", "--out", "plan.json")
        self.assertIn("of communication buffers, the limit is ", line)
        self.assertFalse((self.folder / "plan.json").exists())
        self.assertIn("--buffer: ", self.refuse(1, "hsap-plan", "compare", *SMALL, "--buffer", "much"))

    def test_ragged_heads_allow_every_degree(self):
        arguments = ("--model", "Qwen2.5-7B", "--gpus", 8, "--tokens", 320, "--strategy", "ulysses")
        self.assertIn("28 heads not divisible by head-parallel degree 8", self.refuse(1, "hsap-plan", "plan", *arguments, "--out", "p.json"))
        self.succeed("hsap-plan", "plan", *arguments, "--ragged-heads", "--out", "plan.json")
        self.assertTrue(self.succeed_json("hsap-run", "plan.json", "--verify")["verify"]["passed"])

    def test_every_strategy_names_its_options(self):
        text = self.succeed("hsap-plan", "list")
        self.assertIn("options: --placement, --stages", text)
        self.assertEqual(text.count("as published it ignores documents"), 10)
        self.assertEqual(len(STRATEGIES), 21)


if __name__ == "__main__":
    unittest.main()
