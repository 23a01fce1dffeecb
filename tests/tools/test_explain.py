"""hsap-plan explain: what a plan does, for people and for programs."""
import json
import re
import unittest

from commands import SMALL, CommandTest

SECTIONS = ("plan", "layer", "mask", "batch", "cluster", "predicted", "placement", "exchange", "waits", "memory",
            "time above the lower bound")
CAUSES = ("extra_work", "imbalance", "memory_cap", "kernel_fragments", "other_kernels", "exposed_communication", "latency", "waiting")
STRATEGIES = re.compile(r"^  ([\w-]+) {2,}", re.MULTILINE)


class ExplainTest(CommandTest):
    def explain(self, *arguments):
        text = self.succeed("hsap-plan", "explain", *arguments)
        self.assertLessEqual(max(map(len, text.splitlines())), 120, text)
        self.assertNotIn("\x1b", text)
        return text

    def require_sections(self, text):
        lines = text.splitlines()
        places = [next((i for i, line in enumerate(lines) if line.startswith(name + "  ")), None) for name in SECTIONS]
        self.assertNotIn(None, places, text)
        self.assertEqual(places, sorted(places))

    def require_sums(self, out):
        above = 0
        for phase in ("forward", "backward"):
            causes = out["causes"][phase]
            self.assertGreaterEqual(causes["seconds"], out["predicted"][phase + "_seconds"])
            excess = causes["seconds"] - causes["bound_seconds"]
            self.assertAlmostEqual(sum(causes[name] for name in CAUSES), excess, delta=1e-9 * causes["seconds"])
            self.assertTrue(all(causes[name] >= -1e-9 * causes["seconds"] for name in CAUSES), causes)
            above += excess
            path = out["waits"][phase]["critical_path"]
            self.assertEqual((path[0]["begin_seconds"], path[-1]["end_seconds"]), (0, out["predicted"][phase + "_seconds"]))
            for before, after in zip(path, path[1:]):
                self.assertEqual(before["end_seconds"], after["begin_seconds"])
            rounds = out["exchange"][phase]["rounds"]
            self.assertEqual(sum(each["bytes"] for each in rounds), out["exchange"][phase]["bytes"])
            self.assertEqual(sum(out["exchange"][phase]["bytes_sent"]["by_rank"]), out["exchange"][phase]["bytes"])
        self.assertEqual(sum(term["bytes"] for term in out["memory"]["terms"]), out["memory"]["peak_bytes"])
        self.assertEqual(sum(out["placement"]["tokens"]["by_rank"]), out["plan"]["tokens"])
        self.assertGreater(above, 0)


class OnePlan(ExplainTest):
    def setUp(self):
        super().setUp()
        self.plan = json.loads(self.make_plan("--strategy", "usp", "--degrees", "2x2").read_text(encoding="utf-8"))

    def test_text_and_json_agree_with_each_other_and_with_the_plan(self):
        text = self.explain("plan.json")
        self.require_sections(text)
        out = self.succeed_json("hsap-plan", "explain", "plan.json")
        self.require_sums(out)
        self.assertEqual({key: out["predicted"][key] for key in ("forward_seconds", "backward_seconds")},
                         {key: self.plan["predicted"][key] for key in ("forward_seconds", "backward_seconds")})
        whole = out["placement"]["documents_on_one_rank"]
        self.assertIn(f"{whole} of {len(out['placement']['documents'])} documents lie whole on one rank", text)
        for document in out["placement"]["documents"]:
            row = (document["document"], document["tokens"], len(document["ranks"]), document["pieces"])
            self.assertRegex(text, "(?m)^ +" + " +".join(map(str, row)) + " ")
        for phase in ("forward", "backward"):
            self.assertEqual(out["causes"][phase]["seconds"], self.plan["predicted"]["layer"][phase + "_seconds"])
            self.assertIn(f"{phase}: {out['exchange'][phase]['messages']} messages, ", text)
            waits = out["waits"][phase]
            self.assertIn(f"rank {waits['most_waiting']['rank']} computes nothing for ", text)
            for each in out["exchange"][phase]["rounds"]:
                row = (each["stream"], ", ".join(each["roles"]), each["senders"], each["most_peers"], each["messages"])
                self.assertRegex(text, "(?m)^ *[-0-9]* +" + " +".join(map(str, row)) + " ")
        self.assertIn(f"memory  of rank {out['memory']['rank']}, ", text)
        self.assertIn(f"{out['memory']['terms'][0]['buffer']}  ", text)
        self.assertIsNone(out["program"])
        self.assertNotIn("wrong  ", text)

    def test_the_ops_of_a_rank_are_told_in_the_order_of_its_program(self):
        text = self.explain("plan.json", "--rank", 1)
        self.assertIn("\nrank 1  ", text)
        program = self.succeed_json("hsap-plan", "explain", "plan.json", "--rank", 1)["program"]
        self.assertEqual(program["rank"], 1)
        for phase in ("forward", "backward"):
            planned = self.plan["schedule"]["ranks"][1][phase]
            ops = [op for op in program["ops"] if op["phase"] == phase]
            self.assertEqual([op["op"] for op in ops], list(range(len(planned))))
            self.assertTrue(all(op["begin_seconds"] <= op["end_seconds"] for op in ops))
        rows = re.findall(r"(?m)^ *\d+ +\d+ +[01]  (?:exchange|attend|attend backward|merge|copy|accumulate)  ", text)
        self.assertEqual(len(rows), len(program["ops"]))
        exchanges = [op for op in program["ops"] if op["kind"] == "exchange"]
        self.assertTrue(exchanges and all(op["to"] and op["from"] and op["bytes_sent"] > 0 for op in exchanges))

    def test_documents_are_told_longest_first_as_many_as_asked(self):
        self.assertIn("\nand 5 more\n", self.explain("plan.json", "--documents", 2))
        self.assertIn("\nand 7 more\n", self.explain("plan.json", "--documents", 0))
        lengths = [document["tokens"] for document in self.succeed_json("hsap-plan", "explain", "plan.json")["placement"]["documents"]]
        self.assertEqual(lengths, sorted(lengths, reverse=True))

    def test_a_plan_made_for_attention_alone_is_explained_by_attention_alone(self):
        self.make_plan("--strategy", "usp", "--degrees", "2x2", "--objective", "attention")
        out = self.succeed_json("hsap-plan", "explain", "plan.json")
        self.require_sums(out)
        self.assertEqual(out["predicted"]["objective"], "attention")
        for phase in ("forward", "backward"):
            self.assertEqual(out["causes"][phase]["seconds"], out["predicted"][phase + "_seconds"])
        self.assertNotIn("; layer ", self.explain("plan.json"))

    def test_the_predictor_can_be_chosen(self):
        self.assertIn("(estimate)", self.explain("plan.json", "--evaluator", "estimate"))
        self.assertIn("(simulate)", self.explain("plan.json"))

    def test_mistakes_are_one_line(self):
        self.assertIn("expected 0 to 3", self.refuse(1, "hsap-plan", "explain", "plan.json", "--rank", 4))
        self.assertIn("simulate", self.refuse(1, "hsap-plan", "explain", "plan.json", "--evaluator", "guess"))
        self.assertIn("no such file", self.refuse(1, "hsap-plan", "explain", "missing.json"))
        for arguments in (("--rank", "one"), ("--rank", "-1"), ("--documents", "-1"), ("plan.json", "more.json")):
            self.assertIn("--help", self.refuse(2, "hsap-plan", "explain", *arguments), arguments)


class EveryStrategy(ExplainTest):
    def test_every_strategy_is_explained(self):
        listed = self.succeed("hsap-plan", "list").split("Clusters")[0]
        strategies = STRATEGIES.findall(listed)
        self.assertGreaterEqual(len(strategies), 9)
        for strategy in strategies:
            with self.subTest(strategy):
                self.make_plan("--strategy", strategy, "--evaluator", "estimate")
                self.require_sections(self.explain("plan.json", "--evaluator", "estimate", "--rank", 0))
                out = self.succeed_json("hsap-plan", "explain", "plan.json", "--evaluator", "estimate")
                self.assertEqual(out["plan"]["strategy"], strategy)
                self.require_sums(out)

    def test_a_contaminated_plan_says_so_and_counts_the_work_it_wastes(self):
        self.make_plan("--strategy", "ring", "--as-published", "--evaluator", "estimate")
        text = self.explain("plan.json", "--evaluator", "estimate")
        self.assertIn("\nwrong      contaminated", text)
        out = self.succeed_json("hsap-plan", "explain", "plan.json", "--evaluator", "estimate")
        self.require_sums(out)
        self.assertTrue(out["plan"]["contaminated"])
        self.assertEqual(len(out["placement"]["documents"]), 7)
        self.assertGreater(out["causes"]["forward"]["extra_work"], 0)


class BuiltIn(ExplainTest):
    def test_without_a_plan_the_one_for_the_built_in_problem_is_explained_and_no_file_written(self):
        text = self.explain("--evaluator", "estimate")
        self.require_sections(text)
        for word in ("131,072", "Llama-3.1-8B", "16 GPUs", "and 55 more"):
            self.assertIn(word, text)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
