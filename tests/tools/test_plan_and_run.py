"""hsap-plan plan, then hsap-run on what it wrote."""
import json
import unittest

from commands import SMALL, STRATEGIES, CommandTest


class PlanAndRun(CommandTest):
    def run_json(self, *arguments):
        return self.succeed_json("hsap-run", "plan.json", "--backend", "cpu", *arguments)

    def test_every_strategy_can_be_planned_and_equals_the_oracle(self):
        for strategy, degrees in STRATEGIES.items():
            with self.subTest(strategy):
                self.make_plan("--strategy", strategy, "--degrees", degrees)
                out = self.run_json("--verify")
                self.assertEqual((out["strategy"], out["degrees"]), (strategy, degrees))
                self.assertEqual((out["verify"]["coverage"], out["verify"]["passed"]), ("all rows", True))
                self.assertEqual(set(out["verify"]["relative_error"]), {"O", "dQ", "dK", "dV"})
                self.assertTrue(all(0 <= error <= 1e-5 for error in out["verify"]["relative_error"].values()), out)

    def test_the_best_is_planned_when_nothing_is_forced(self):
        best = self.succeed_json("hsap-plan", "compare", *SMALL)
        self.make_plan()
        plan = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        row = best["results"][0]
        self.assertEqual((plan["strategy"], plan["degrees"], plan["options"]), (row["strategy"], row["degrees"], row["options"]))
        self.assertEqual(plan["predicted"]["forward_seconds"], row["forward_seconds"])
        self.assertEqual(plan["predicted"]["evaluator"], "simulate")
        self.assertEqual(plan["predicted"]["layer"]["backward_seconds"], row["layer_backward_seconds"])
        self.assertEqual((plan["inputs"]["objective"], plan["inputs"]["linear_parameters"]), ("layer", 218103808))

    def test_plan_prints_the_layers_time_the_bound_that_binds_and_the_distance_to_it(self):
        arguments = ("hsap-plan", "plan", *SMALL, "--evaluator", "estimate", "--out", "plan.json")
        text = " ".join(self.succeed(*arguments).split())
        self.assertRegex(text, r"predicted attention \S+ [mun]s forward, \S+ [mun]s backward; layer \S+ [mun]s forward, ")
        self.assertRegex(text, r"; layer is \d\S* times the lower bound bound \S+ [mun]s, compute binds: ")
        self.assertRegex(text, r" above it \S+ [mun]s: [a-z ]+ \d")
        self.assertIn("; attention is ", " ".join(self.succeed(*arguments, "--objective", "attention").split()))

    def test_plans_from_before_layers_were_ranked_are_read_as_made_for_attention(self):
        path = self.make_plan("--strategy", "zigzag")
        plan = json.loads(path.read_text(encoding="utf-8"))
        del plan["inputs"]["objective"], plan["inputs"]["linear_parameters"], plan["predicted"]["layer"]
        path.write_text(json.dumps(plan), encoding="utf-8")
        self.assertTrue(self.run_json("--verify")["verify"]["passed"])
        self.assertEqual(self.succeed_json("hsap-plan", "explain", "plan.json")["predicted"]["objective"], "attention")

    def test_an_objective_that_the_plan_cannot_have_is_refused(self):
        path = self.make_plan("--strategy", "zigzag")
        whole = path.read_text(encoding="utf-8")
        for key, value, word in (("objective", "tokens", "inputs.objective: found"), ("linear_parameters", None, "linear_parameters is missing"),
                                 ("linear_parameters", "many", "inputs.linear_parameters: found")):
            changed = json.loads(whole)
            changed["inputs"][key] = value
            path.write_text(json.dumps(changed), encoding="utf-8")
            self.assertIn(word, self.refuse(1, "hsap-run", "plan.json"))

    def test_measured_is_printed_beside_predicted_and_labelled(self):
        self.make_plan("--strategy", "zigzag")
        text = self.succeed("hsap-run", "plan.json", "--repeat", 2)
        for word in ("predicted for H100", "measured on this host's CPU", "median of 2", "forward", "backward"):
            self.assertIn(word, text)
        out = self.run_json("--repeat", 3)
        for phase in ("forward_seconds", "backward_seconds"):
            measured = out["measured"][phase]
            self.assertEqual(len(measured["all"]), 3)
            self.assertEqual(measured["min"], min(measured["all"]))
            self.assertEqual(measured["median"], sorted(measured["all"])[1])
            self.assertGreater(measured["min"], 0)
        self.assertIsNone(out["verify"])

    def test_a_batch_too_large_for_the_oracle_is_sampled_and_that_is_said(self):
        self.succeed("hsap-plan", "plan", "--gpus", 2, "--tokens", 2000, "--strategy", "zigzag", "--out", "plan.json")
        out = self.run_json("--verify")
        self.assertIn("sampled: ", out["verify"]["coverage"])
        self.assertTrue(out["verify"]["passed"])

    def test_a_plan_made_for_something_else_is_refused_naming_both(self):
        self.make_plan("--strategy", "usp", "--degrees", "2x2")
        (self.folder / "lengths.txt").write_text("300\n300\n", encoding="utf-8")
        for option, value, made_for in (("--degrees", "4x1", "2x2"), ("--tokens", "321", "320"), ("--gpus", "8", "4 GPUs"),
                                        ("--model", "Qwen3-8B", "Llama-3.1-8B"), ("--lengths", "lengths.txt", "short-documents.txt")):
            line = self.refuse(1, "hsap-run", "plan.json", option, value)
            self.assertIn(made_for, line)
            self.assertIn(value, line)
        self.succeed("hsap-run", "plan.json", "--degrees", "2x2", "--model", "Llama-3.1-8B", *SMALL)

    def test_a_mask_rule_is_planned_named_and_executed_from_the_plan_alone(self):
        for rule, words in (("full", "full"), ("sinks:2,window:16", "window 16, 2 sinks"), ("window:8,4", "window 8 left, 4 right"),
                            ("blocks:32", "blocks of 32"), ("prefix:20", "prefix 20")):
            with self.subTest(rule):
                text = self.succeed("hsap-plan", "plan", *SMALL, "--mask", rule, "--strategy", "hsap", "--degrees", "1x4", "--out", "plan.json")
                text = " ".join(text.split())  # long lines are broken
                self.assertIn("mask " + words, text)
                self.assertIn("the model's layer has: causal", text)
                out = self.run_json("--verify", "--mask", rule, "--model", "Llama-3.1-8B")
                self.assertEqual((out["verify"]["coverage"], out["verify"]["passed"]), ("all rows", True))
                line = self.refuse(1, "hsap-run", "plan.json", "--mask", "causal")
                self.assertIn("mask rule " + words, line)
        plan = self.folder / "plan.json"
        self.assertEqual(json.loads(plan.read_text(encoding="utf-8"))["inputs"]["mask"], "prefix:20")
        mask = self.succeed_json("hsap-plan", "compare", *SMALL, "--mask", "full", "--strategy", "ring")["inputs"]["attention"]["mask"]
        self.assertEqual(mask, {"rule": "full", "left": None, "right": None, "sinks": 0, "prefix": 0, "chunk": None})
        self.make_plan("--strategy", "lasp", "--mask", "full")  # its linear counterpart stays causal
        self.succeed("hsap-run", "plan.json", "--mask", "causal", "--model", "Llama-3.1-8B")

    def test_a_plan_that_was_tampered_with_is_refused(self):
        path = self.make_plan("--strategy", "zigzag")
        whole = path.read_text(encoding="utf-8")
        for key, value in (("version", 99), ("schedule", {}), ("inputs", []), ("predicted", None)):
            changed = json.loads(whole)
            changed[key] = value
            path.write_text(json.dumps(changed), encoding="utf-8")
            self.assertIn("plan.json: " + key, self.refuse(1, "hsap-run", "plan.json"))
        for text in (whole[:len(whole) // 2], "", "[]", "\0"):
            path.write_text(text, encoding="utf-8")
            self.assertIn("plan.json", self.refuse(1, "hsap-run", "plan.json"))

    def test_unknown_backends_and_no_repeats_are_refused(self):
        self.make_plan("--strategy", "zigzag")
        self.assertIn("cpu", self.refuse(1, "hsap-run", "plan.json", "--backend", "abacus"))
        self.assertIn("--repeat", self.refuse(1, "hsap-run", "plan.json", "--repeat", 0))

    def test_lasp_alone_plans_the_linear_counterpart_and_says_so(self):
        text = self.succeed("hsap-plan", "plan", *SMALL, "--strategy", "lasp", "--out", "plan.json")
        self.assertIn("linear: the plan is for the counterpart", text)

    def test_a_linear_layer_that_decays_is_planned_and_equals_the_oracle(self):
        layer = ("--gpus", 4, "--tokens", 512, "--model", "Qwen3.5-27B", "--layer", "linear")
        text = self.succeed("hsap-plan", "plan", *layer, "--decay", 0.5, "--strategy", "zeco", "--out", "plan.json")
        self.assertIn("decay 0.5", " ".join(text.split()))
        out = self.run_json("--verify", "--model", "Qwen3.5-27B")
        self.assertTrue(out["verify"]["passed"], out)
        self.assertIn("--decay", self.refuse(1, "hsap-plan", "compare", *SMALL, "--decay", 1))


if __name__ == "__main__":
    unittest.main()
