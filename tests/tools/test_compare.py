"""hsap-plan compare: the table, the JSON, and that both say what was compared."""
import os
import pty
import re
import subprocess
import unittest

from commands import SMALL, STRATEGIES, CommandTest

NUMBERS = ("forward_seconds", "backward_seconds", "layer_forward_seconds", "layer_backward_seconds", "exposed_communication_seconds", "bytes_sent_busiest_rank", "bytes_between_nodes",
           "peak_memory_bytes", "over_bound")
CAUSES = ("extra_work", "imbalance", "memory_cap", "kernel_fragments", "other_kernels", "exposed_communication", "latency", "waiting")


class DefaultTable(CommandTest):
    def test_no_arguments_compare_all_strategies_on_built_in_data(self):
        text = self.succeed("hsap-plan")
        for word in set(STRATEGIES) | {"dgx-h100-2", "Llama-3.1-8B", "long-tail", "131,072", "seed 0", "lower bound", "16 of 16 GPUs"}:
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertNotIn("\x1b", text)
        first_row = next(line for line in text.splitlines() if line.split()[:1] and line.split()[0] in STRATEGIES)
        self.assertIn(f"best         {first_row.split()[0]} ", text)

    def test_columns_are_aligned(self):
        lines = self.succeed("hsap-plan", "compare", *SMALL, "--evaluator", "estimate").splitlines()
        rows = [line for line in lines if line.split()[:1] and line.split()[0] in STRATEGIES and line.endswith("yes")]
        self.assertGreaterEqual(len(rows), 5)
        columns = [[field.end() for field in re.finditer(r"(?<= )[\d.,x]+(?=  )", row)] for row in rows]
        self.assertTrue(all(ends == columns[0] for ends in columns), "\n".join(rows))


class Json(CommandTest):
    def test_with_a_barrier_tokens_are_balanced_and_the_layer_is_no_faster_than_its_parts(self):
        options = (*SMALL, "--strategy", "hsap", "--degrees", "1x4", "--placement", "cost-cut")
        out = self.succeed_json("hsap-plan", "compare", *options, "--barrier")
        self.assertIs(out["inputs"]["barrier"], True)
        self.assertIs(self.succeed_json("hsap-plan", "compare", *options)["inputs"]["barrier"], False)
        row = out["results"][0]
        self.assertGreater(row["layer_forward_seconds"], row["forward_seconds"])
        self.succeed("hsap-plan", "plan", *options, "--barrier", "--out", "barrier.json")
        explained = self.succeed_json("hsap-plan", "explain", "barrier.json")
        tokens = explained["placement"]["tokens"]
        self.assertLessEqual(tokens["most"], 1.02 * tokens["mean"] + 1)  # few tokens: the smallest cap that whole ones allow
        self.assertAlmostEqual(explained["causes"]["forward"]["seconds"], row["layer_forward_seconds"], delta=1e-3 * row["layer_forward_seconds"])

    def test_every_strategy_has_a_row_with_all_its_numbers(self):
        out = self.succeed_json("hsap-plan", "compare", *SMALL)
        self.assertEqual({row["strategy"] for row in out["results"]}, set(STRATEGIES))
        self.assertGreater(out["lower_bound_seconds"], 0)
        for row in out["results"]:
            self.assertIn(row["attention"], ("softmax", "linear"))
            self.assertRegex(row["degrees"], r"^\d+x\d+$")
            if row["valid"]:
                self.assertIs(row["fits"], True)
                self.assertEqual(row["reason"], "")
                self.assertTrue(all(isinstance(row[key], (int, float)) for key in NUMBERS), row)
                self.assertGreaterEqual(row["over_bound"], 1)
            else:
                self.assertNotEqual(row["reason"], "")
                self.assertTrue(all(row[key] is None for key in NUMBERS), row)

    def test_the_inputs_are_told(self):
        inputs = self.succeed_json("hsap-plan", "compare", *SMALL, "--seed", 3, "--evaluator", "estimate")["inputs"]
        expected = {"cluster": "DGX H100, 2 nodes", "model": "Llama-3.1-8B", "lengths": "short-documents.txt", "tokens": 320, "gpus": 4,
                    "seed": 3, "evaluator": "estimate", "batch": 0, "documents": 7, "tokens_used": 304}
        self.assertEqual({key: inputs[key] for key in expected}, expected)

    def test_rows_come_best_first_and_those_of_other_attention_last(self):
        out = self.succeed_json("hsap-plan", "compare", *SMALL)
        softmax = [row for row in out["results"] if row["attention"] == "softmax"]
        seconds = [row["layer_forward_seconds"] + row["layer_backward_seconds"] for row in softmax if row["fits"]]
        self.assertEqual(seconds, sorted(seconds))
        self.assertAlmostEqual(softmax[0]["over_bound"], seconds[0] / out["lower_bound_seconds"])
        self.assertEqual(out["best"], softmax[0]["strategy"])
        self.assertEqual(out["results"][:len(softmax)], softmax)

    def test_lasp_is_linear_and_never_the_best_of_a_softmax_model(self):
        out = self.succeed_json("hsap-plan", "compare", *SMALL, "--strategy", "lasp")
        self.assertEqual([(row["strategy"], row["attention"], row["valid"]) for row in out["results"]], [("lasp", "linear", True)])
        self.assertIsNone(out["best"])

    def test_the_same_seed_gives_the_same_answer_and_another_seed_other_documents(self):
        def answer(seed):
            return self.succeed_json("hsap-plan", "compare", "--gpus", 4, "--tokens", 5000, "--seed", seed, "--strategy", "zigzag")
        self.assertEqual(answer(1), answer(1))
        self.assertNotEqual(answer(1)["results"], answer(2)["results"])

    def test_every_degree_has_a_row_when_asked(self):
        rows = self.succeed_json("hsap-plan", "compare", *SMALL, "--strategy", "usp", "--all-degrees")["results"]
        self.assertEqual({row["degrees"] for row in rows}, {"1x4", "2x2", "4x1"})

    def test_degrees_select_the_rows(self):
        rows = self.succeed_json("hsap-plan", "compare", *SMALL, "--degrees", "2x2")["results"]
        self.assertTrue(all(row["degrees"] == "2x2" for row in rows), rows)
        self.assertEqual({row["strategy"] for row in rows if row["valid"]}, {"usp", "hsap", "te-a2a-p2p", "double-ring"})

    def test_chosen_gpus_may_be_listed(self):
        inputs = self.succeed_json("hsap-plan", "compare", "--gpus", "0,1,8,9", "--tokens", 700, "--strategy", "zigzag")["inputs"]
        self.assertEqual((inputs["gpus"], inputs["nodes"]), (4, 2))

    def test_traffic_between_nodes_is_counted_only_when_there_are_two(self):
        def between(gpus):
            return self.succeed_json("hsap-plan", "compare", "--gpus", gpus, "--tokens", 700, "--strategy",
                                     "zigzag")["results"][0]["bytes_between_nodes"]
        self.assertEqual(between("0,1,2,3"), 0)
        self.assertGreater(between("0,1,8,9"), 0)


class Objective(CommandTest):
    def test_attention_alone_can_be_ranked_and_both_figures_are_told(self):
        out = self.succeed_json("hsap-plan", "compare", *SMALL, "--evaluator", "estimate", "--objective", "attention")
        self.assertEqual(out["inputs"]["objective"], "attention")
        softmax = [row for row in out["results"] if row["attention"] == "softmax"]
        seconds = [row["forward_seconds"] + row["backward_seconds"] for row in softmax if row["fits"]]
        self.assertEqual(seconds, sorted(seconds))
        self.assertAlmostEqual(softmax[0]["over_bound"], seconds[0] / out["lower_bound_seconds"])
        for row in softmax:
            self.assertGreater(row["layer_forward_seconds"], row["forward_seconds"])
        layer = self.succeed_json("hsap-plan", "compare", *SMALL, "--evaluator", "estimate")
        self.assertEqual(layer["inputs"]["objective"], "layer")
        self.assertGreater(layer["lower_bound_seconds"], out["lower_bound_seconds"])

    def test_the_bound_of_a_layer_has_the_linear_work_of_all_tokens_spread_evenly(self):
        def bound(objective):
            return self.succeed_json("hsap-plan", "compare", *SMALL, "--strategy", "zigzag", "--evaluator", "estimate", "--objective",
                                     objective)
        out = bound("layer")
        self.assertEqual(out["inputs"]["linear_parameters"], 218103808)  # of a layer of Llama 3.1 8B
        linear = 304 / 4 * 6 * 218103808 / (0.8 * 989.4e12)  # tokens of a rank x FLOP per token / rate of an H100
        self.assertAlmostEqual((out["lower_bound_seconds"] - bound("attention")["lower_bound_seconds"]) / linear, 1, places=3)

    def test_the_distance_of_the_best_to_the_bound_adds_up_by_cause(self):
        for objective in ("layer", "attention"):
            with self.subTest(objective):
                arguments = ("compare", *SMALL, "--objective", objective)
                out = self.succeed_json("hsap-plan", *arguments)
                self.assertEqual([bound["name"] for bound in out["bounds"]], ["compute"])
                self.assertEqual(out["bounds"][0]["seconds"], out["lower_bound_seconds"])
                best = out["results"][0]
                prefix = "layer_" if objective == "layer" else ""
                for phase in ("forward", "backward"):
                    causes = out["best_causes"][phase]
                    self.assertEqual(causes["seconds"], best[f"{prefix}{phase}_seconds"])
                    self.assertAlmostEqual(sum(causes[name] for name in CAUSES), causes["seconds"] - causes["bound_seconds"],
                                           delta=1e-9 * causes["seconds"])
                text = " ".join(self.succeed("hsap-plan", *arguments).split())
                self.assertRegex(text, r"lower bound \d\S* [mun]s, compute binds: attention's least matrix work")
                self.assertRegex(text, r"above it \d\S* [mun]s: [a-z ]+ \d\S* [mun]s \(\d+\.\d %\); ")
                self.assertIn(f" {objective} forward + backward, ", text)

    def test_a_model_that_does_not_tell_its_linear_work_can_be_ranked_by_attention(self):
        (self.folder / "config.json").write_text('{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 512, '
                                                 '"num_attention_heads": 8, "torch_dtype": "bfloat16"}', encoding="utf-8")
        arguments = ("compare", *SMALL, "--model", "./config.json", "--strategy", "zigzag")
        line = self.refuse(1, "hsap-plan", *arguments)
        self.assertIn("intermediate_size is missing", line)
        self.assertIn("--objective attention", line)
        out = self.succeed_json("hsap-plan", *arguments, "--objective", "attention")
        self.assertIsNone(out["inputs"]["linear_parameters"])
        self.assertIsNone(out["results"][0]["layer_forward_seconds"])
        self.assertGreater(out["results"][0]["forward_seconds"], 0)
        self.assertNotIn("Layer:", self.succeed("hsap-plan", *arguments, "--objective", "attention"))
        self.assertIn("expected layer", self.refuse(1, "hsap-plan", *arguments, "--objective", "tokens"))

    def test_linear_layers_of_hybrid_models_have_linear_work(self):
        row = self.succeed_json("hsap-plan", "compare", *SMALL, "--model", "Qwen3.5-27B", "--layer", "linear", "--strategy", "hsap",
                                "--evaluator", "estimate")["results"][0]
        self.assertGreater(row["layer_forward_seconds"], row["forward_seconds"])
        self.assertGreaterEqual(row["over_bound"], 1)


class Files(CommandTest):
    def test_documents_come_from_a_file_and_are_packed_in_order(self):
        (self.folder / "lengths.txt").write_text("100\n0\n500\n2000\n50\n", encoding="utf-8")
        inputs = self.succeed_json("hsap-plan", "compare", "--lengths", "lengths.txt", "--gpus", 2, "--tokens", 1000, "--strategy",
                                   "zigzag")["inputs"]
        self.assertEqual((inputs["documents"], inputs["tokens_used"], inputs["lengths"]), (3, 650, "lengths.txt"))
        told = "\n".join(inputs["remarks"])
        self.assertIn("empty", told)
        self.assertIn("split", told)

    def test_another_batch_can_be_chosen_and_a_missing_one_is_an_error(self):
        (self.folder / "lengths.txt").write_text("1000\n400\n", encoding="utf-8")
        arguments = ("compare", "--lengths", "lengths.txt", "--gpus", 2, "--tokens", 1000, "--strategy", "zigzag", "--batch")
        self.assertEqual(self.succeed_json("hsap-plan", *arguments, 1)["inputs"]["tokens_used"], 400)
        self.assertIn("2 batches", self.refuse(1, "hsap-plan", *arguments, 2))

    def test_a_ready_batch_is_not_packed_again(self):
        (self.folder / "batch.json").write_text('{"cu_seqlens": [0, 300, 301, 640]}', encoding="utf-8")
        inputs = self.succeed_json("hsap-plan", "compare", "--lengths", "batch.json", "--gpus", 2, "--strategy", "zigzag")["inputs"]
        self.assertEqual((inputs["documents"], inputs["tokens"]), (3, 640))
        self.assertIn("leave --tokens out",
                      self.refuse(1, "hsap-plan", "compare", "--lengths", "batch.json", "--gpus", 2, "--tokens", 100))


class Terminal(CommandTest):
    def output_on_terminal(self, **environment):
        """What a terminal would show."""
        try:
            controller, terminal = pty.openpty()
        except OSError as reason:
            self.skipTest(f"no pseudo-terminal here: {reason}")
        env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | environment
        command = [self.bin_dir / "hsap-plan", "compare", *SMALL, "--evaluator", "estimate"]
        with subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL, env=env, cwd=self.folder):
            os.close(terminal)
            shown = b""
            try:
                while chunk := os.read(controller, 65536):
                    shown += chunk
            except OSError:  # Linux reports the closed terminal as an input/output error
                pass
        os.close(controller)
        return shown.decode()

    def test_the_best_row_is_bold_on_a_terminal_unless_colour_is_unwanted(self):
        self.assertIn("\x1b[1m", self.output_on_terminal())
        self.assertNotIn("\x1b", self.output_on_terminal(NO_COLOR="1"))


if __name__ == "__main__":
    unittest.main()
