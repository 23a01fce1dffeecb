"""bench-planner: planning times and quality on instances of its own, beside a table of peers."""
import json
import math
import unittest

from commands import CommandTest

# Llama-3-8B layer, forward, as planbench/common.py has it.
SECONDS_PER_PAIR = 4 * 128 * 32 / 4e14
SECONDS_PER_TOKEN = 2 * 218.1e6 / 4e14

INSTANCES = {"even_64k": [8192] * 8, "steep_64k": [32768] + [1024] * 31 + [8] * 128, "single_256k": [262144]}
HEADER = "peer,id,P,plan_ms,dispatch_ms,inter_total,node_in_total,t_layer_ms,t_layerh_ms,lb_layer_ms,err"
PEERS = (
    "slow,even_64k,8,250,,0,0,12,11,10,",
    "quick,even_64k,8,0.5,,0,0,11,11,10,",
    "hcc_k1.25,even_64k,8,0.01,,0,0,10,10,10,",
    "failed,even_64k,8,,,,,,,,out of time",
    "slow,even_64k,32,350,,900,0,12,1,10,",   # what enters nodes was not counted
    "slow,single_256k,32,1000,,900,100,30,20,10,",
)


class BenchPlanner(CommandTest):
    def setUp(self):
        super().setUp()
        inputs = self.folder / "bench" / "inputs"
        inputs.mkdir(parents=True)
        self.write_index(INSTANCES)
        for name, lengths in INSTANCES.items():
            (inputs / f"{name}.json").write_text(json.dumps({"doc_lens": lengths}), encoding="utf-8")

    def write_index(self, names):
        (self.folder / "bench" / "inputs" / "index.json").write_text(json.dumps([{"id": name} for name in names]), encoding="utf-8")

    def write_peers(self, rows=PEERS, header=HEADER, name="bench/peers.csv"):
        (self.folder / name).write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")

    def bench(self, *arguments):
        return self.succeed_json("hsap-plan", "bench-planner", "bench/inputs", *arguments)

    def refuse_bench(self, *arguments):
        return self.refuse(1, "hsap-plan", "bench-planner", *arguments)


class Results(BenchPlanner):
    def test_instances_run_on_ranks_that_get_2048_to_131072_tokens_each(self):
        results = self.bench("--ranks", "8,32,128,512")["results"]
        self.assertEqual([(row["ranks"], row["instance"]) for row in results],
                         [(8, "even_64k"), (8, "steep_64k"), (8, "single_256k"), (32, "even_64k"), (32, "steep_64k"), (32, "single_256k"),
                          (128, "single_256k")])

    def test_whole_documents_of_equal_length_are_at_the_bound_and_move_nothing(self):
        row = self.bench("--ranks", "8", "--instances", "even")["results"][0]
        pairs = 8 * 8192 * 8193 / 2
        bound = (pairs * SECONDS_PER_PAIR + 65536 * SECONDS_PER_TOKEN) / 8
        self.assertAlmostEqual(row["bound"]["compute_seconds"], bound, delta=1e-9 * bound)
        self.assertEqual((row["tokens"], row["documents"]), (65536, 8))
        self.assertEqual((row["received_keys"], row["most_received_keys"], row["into_nodes_keys"]), (0, 0, 0))
        self.assertEqual(row["bound"]["binding"], "compute")
        for key in ("cost_over_mean", "tokens_over_mean", "direct_over_bound", "hierarchical_over_bound"):
            self.assertAlmostEqual(row[key], 1, places=9)
        self.assertIsNone(row["received_over_row_atomic"])
        self.assertIs(row["within_cap"], True)

    def test_one_long_document_is_near_the_bounds_and_within_the_cap(self):
        for cap in (1.1, 1.25):
            for row in self.bench("--ranks", "8,32,128", "--instances", "single", "--cap", cap)["results"]:
                self.assertIs(row["within_cap"], True)
                self.assertLessEqual(row["tokens_over_mean"], cap + row["ranks"] / row["tokens"])
                self.assertLess(row["cost_over_mean"], 1.01)
                self.assertGreaterEqual(row["received_over_coupled"], 1)
                self.assertGreaterEqual(row["received_over_row_atomic"], row["received_over_coupled"])
                self.assertGreaterEqual(row["direct_over_bound"], 1)
                self.assertGreaterEqual(row["hierarchical_over_bound"], 1)
                self.assertLess(row["hierarchical_over_bound"], 1.3)
                self.assertGreaterEqual(row["bound"]["seconds"], row["bound"]["compute_seconds"])
                self.assertGreater(row["placement_seconds"], 0)
                self.assertGreater(row["lowering_seconds"], row["placement_seconds"] / 10)
                self.assertTrue(all(math.isfinite(value) for value in row["bound"].values() if isinstance(value, float)), row)

    def test_nothing_enters_the_only_node(self):
        row = self.bench("--ranks", "8", "--instances", "single")["results"][0]
        self.assertEqual(row["into_nodes_keys"], 0)
        self.assertGreater(row["received_keys"], 0)


class Simulated(BenchPlanner):
    def test_is_not_known_unless_asked_for(self):
        out = self.bench("--ranks", "8", "--instances", "even")
        self.assertIsNone(out["results"][0]["simulated_seconds"])
        self.assertIsNone(out["results"][0]["simulated_over_bound"])
        self.assertIsNone(out["summaries"][0]["simulated_over_bound"])

    def test_where_nothing_moves_the_layer_takes_as_long_as_the_rank_that_has_most_to_do(self):
        lengths = [8192] * 7 + [8190]  # too even for a cut
        seconds = [length * (length + 1) / 2 * SECONDS_PER_PAIR + length * SECONDS_PER_TOKEN for length in lengths]
        self.write_index(["whole"])
        (self.folder / "bench" / "inputs" / "whole.json").write_text(json.dumps({"doc_lens": lengths}), encoding="utf-8")
        out = self.bench("--ranks", "8", "--simulate")
        row = out["results"][0]
        self.assertEqual(row["received_keys"], 0)
        self.assertAlmostEqual(row["simulated_seconds"], max(seconds), delta=1e-9 * max(seconds))
        self.assertAlmostEqual(row["simulated_over_bound"], max(seconds) / (sum(seconds) / 8), places=9)
        self.assertEqual(out["summaries"][0]["simulated_over_bound"],
                         {"values": 1, "median": row["simulated_over_bound"], "largest": row["simulated_over_bound"]})

    def test_no_rank_is_done_before_its_own_work(self):
        for cap in (1.1, 1.25):
            for row in self.bench("--ranks", "8,32", "--cap", cap, "--simulate")["results"]:
                self.assertGreaterEqual(row["simulated_over_bound"], row["cost_over_mean"] - 1e-9, row)
                self.assertLess(row["simulated_over_bound"], 1.05 if row["ranks"] == 8 else 2)  # an island hides nearly all

    def test_more_stages_hide_more(self):
        def seconds(*arguments):
            return self.bench("--ranks", "32", "--instances", "single", "--simulate", *arguments)["results"][0]["simulated_seconds"]

        self.assertLess(seconds("--stages", "4"), 0.999 * seconds("--stages", "1"))

    def test_the_exchange_may_be_in_rounds(self):
        arguments = ("--ranks", "32", "--instances", "single", "--simulate", "--stages", "4")
        plain, rounds = self.bench(*arguments), self.bench(*arguments, "--exchange", "rounds")
        self.assertEqual((plain["exchange"], rounds["exchange"], rounds["stages"]), ("hierarchical", "rounds", 4))
        self.assertNotEqual(plain["results"][0]["simulated_seconds"], rounds["results"][0]["simulated_seconds"])
        self.assertLess(rounds["results"][0]["simulated_over_bound"], 1.1)


class Peers(BenchPlanner):
    def test_peers_beside_the_folder_are_found_and_the_best_is_named(self):
        self.write_peers()
        out = self.bench("--ranks", "8,32")
        rows = {(row["ranks"], row["instance"]): row for row in out["results"]}
        row = rows[8, "even_64k"]
        self.assertEqual([peer["peer"] for peer in row["peers"]], ["slow", "quick", "hcc_k1.25", "failed"])
        self.assertEqual(row["peers"][0], {"peer": "slow", "planning_seconds": 0.25, "direct_over_bound": 1.2,
                                           "hierarchical_over_bound": 1.1})
        self.assertEqual(row["best_peer"], "quick")  # of equal ones the quickest, and no prototype of hsap's own
        self.assertIsNone(row["peers"][3]["planning_seconds"])
        self.assertIsNone(rows[8, "steep_64k"]["best_peer"])

    def test_hierarchical_times_count_only_where_needs_of_nodes_are_known(self):
        self.write_peers()
        rows = {row["instance"]: row for row in self.bench("--ranks", "32")["results"]}
        self.assertIsNone(rows["even_64k"]["peers"][0]["hierarchical_over_bound"])
        self.assertEqual(rows["single_256k"]["peers"][0]["hierarchical_over_bound"], 2)

    def test_summaries_have_median_and_largest(self):
        self.write_peers()
        summaries = {row["planner"]: row for row in self.bench("--ranks", "32")["summaries"]}
        self.assertEqual(list(summaries), ["hsap", "slow"])
        self.assertEqual(summaries["hsap"]["instances"], 3)
        self.assertEqual(summaries["slow"]["planning_seconds"], {"values": 2, "median": 0.675, "largest": 1.0})
        self.assertEqual(summaries["slow"]["direct_over_bound"], {"values": 2, "median": 2.1, "largest": 3.0})

    def test_another_table_of_peers_may_be_named(self):
        self.write_peers()
        self.write_peers(rows=("other,even_64k,8,1,,0,0,20,20,10,",), name="others.csv")
        row = self.bench("--ranks", "8", "--instances", "even", "--peers", "others.csv")["results"][0]
        self.assertEqual([peer["peer"] for peer in row["peers"]], ["other"])

    def test_mistakes_in_the_table_are_named_with_their_line(self):
        arguments = ("bench/inputs", "--ranks", "8", "--peers", "bench/peers.csv")
        self.write_peers(rows=(*PEERS, "bad,even_64k,8,soon,,0,0,12,11,10,"))
        line = self.refuse_bench(*arguments)
        self.assertIn("peers.csv:8:", line)
        self.assertIn("plan_ms", line)
        self.write_peers(rows=("short,even_64k",))
        self.assertIn("11", self.refuse_bench(*arguments))
        self.write_peers(header=HEADER.replace("lb_layer_ms", "bound"))
        self.assertIn("lb_layer_ms", self.refuse_bench(*arguments))
        self.assertIn("no such file", self.refuse_bench("bench/inputs", "--peers", "missing.csv"))


class Text(BenchPlanner):
    def test_the_tables_name_all_and_fit_the_page(self):
        self.write_peers()
        text = self.succeed("hsap-plan", "bench-planner", "bench/inputs", "--ranks", "8,128")
        for word in ("8 ranks, token cap 1.25 met in 3 of 3", "128 ranks, token cap 1.25 met in 1 of 1", "even_64k", "steep_64k", "single_256k",
                     "median", "largest", "place", "lower", "/V_A", "/V_A2", "quick", "slow", "hsap", "hcc_k1.25"):
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertNotIn("\x1b", text)

    def test_simulated_times_have_a_column_and_are_explained(self):
        arguments = ("hsap-plan", "bench-planner", "bench/inputs", "--ranks", "8", "--instances", "even")
        plain, simulated = self.succeed(*arguments), self.succeed(*arguments, "--simulate")
        self.assertIn("simul.", plain)
        self.assertNotIn("max-min", plain)
        self.assertIn("max-min", simulated)
        self.assertLessEqual(max(map(len, simulated.splitlines())), 120)

    def test_without_peers_there_is_no_table_of_them(self):
        text = self.succeed("hsap-plan", "bench-planner", "bench/inputs", "--ranks", "8")
        self.assertNotIn("planner  ", text)
        self.assertNotIn("Peers", text)

    def test_a_number_of_ranks_that_suits_no_instance_is_told(self):
        self.assertIn("512 ranks: no instance", self.succeed("hsap-plan", "bench-planner", "bench/inputs", "--ranks", "8,512"))


class Mistakes(BenchPlanner):
    def test_folders_and_files_must_be_there_and_right(self):
        self.assertIn("index.json", self.refuse_bench("nowhere"))
        self.write_index([*INSTANCES, "gone"])
        self.assertIn("gone.json", self.refuse_bench("bench/inputs"))
        index = self.folder / "bench" / "inputs" / "index.json"
        for wrong in ("{}", "[]", '["even_64k"]', '[{"id": 3}]'):
            index.write_text(wrong, encoding="utf-8")
            self.assertIn('{"id": "NAME"}', self.refuse_bench("bench/inputs"), wrong)
        index.write_text("[", encoding="utf-8")
        self.assertIn("index.json:1:", self.refuse_bench("bench/inputs"))

    def test_lengths_must_be_lengths(self):
        self.write_index(["bad"])
        bad = self.folder / "bench" / "inputs" / "bad.json"
        for wrong in ("[1, 2]", '{"lengths": [1]}', '{"doc_lens": []}', '{"doc_lens": 5}'):
            bad.write_text(wrong, encoding="utf-8")
            self.assertIn("doc_lens", self.refuse_bench("bench/inputs"), wrong)
        for wrong in ("-1", "1.5", '"many"', "0"):
            bad.write_text(f'{{"doc_lens": [7, {wrong}]}}', encoding="utf-8")
            self.assertIn("entry 1", self.refuse_bench("bench/inputs"), wrong)

    def test_ranks_must_be_whole_nodes_and_suit_some_instance(self):
        for ranks in ("0", "12", "8,20"):
            self.assertIn("multiple of 8", self.refuse_bench("bench/inputs", "--ranks", ranks), ranks)
        self.assertIn("2,048 to 131,072", self.refuse_bench("bench/inputs", "--ranks", "4096"))
        self.assertIn("--help", self.refuse(2, "hsap-plan", "bench-planner", "bench/inputs", "--ranks", "8,many"))
        self.assertIn("--help", self.refuse(2, "hsap-plan", "bench-planner"))

    def test_stages_are_one_or_more(self):
        for stages in ("0", "-1", "many"):
            self.assertIn("--help", self.refuse(2, "hsap-plan", "bench-planner", "bench/inputs", "--stages", stages), stages)
        self.assertIn("rounds", self.refuse(2, "hsap-plan", "bench-planner", "bench/inputs", "--exchange", "direct"))

    def test_caps_and_filters_must_leave_something_possible(self):
        self.assertIn("at least 1", self.refuse_bench("bench/inputs", "--cap", "0.9"))
        self.assertIn("even_64k", self.refuse_bench("bench/inputs", "--instances", "wiki"))


if __name__ == "__main__":
    unittest.main()
