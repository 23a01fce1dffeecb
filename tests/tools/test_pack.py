"""hsap-plan pack: global batches into replicas and micro-batches, the report, and the file that other commands read."""
import json
import unittest

from commands import SMALL, CommandTest

# Long documents come first, so that first-fit puts them together.
SKEWED = [16000, 16000] + [4000] * 8
OPTIONS = ("--gpus", 4, "--tokens", 64000, "--lengths", "lengths.json")


def with_room(arguments):
    return arguments if "--tokens-per-rank" in arguments else ("--tokens-per-rank", 32000, *arguments)


class Pack(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_lengths(SKEWED)

    def write_lengths(self, lengths):
        (self.folder / "lengths.json").write_text(json.dumps({"lengths": lengths}), encoding="utf-8")

    def pack(self, *arguments):
        return self.succeed_json("hsap-plan", "pack", *OPTIONS, *with_room(arguments))

    def packing_file(self, *arguments):
        self.succeed("hsap-plan", "pack", *OPTIONS, *with_room(arguments), "--out", "packing.json")
        return json.loads((self.folder / "packing.json").read_text(encoding="utf-8"))

    def test_every_mesh_has_a_row_and_no_packing_is_slower_than_first_fit_or_faster_than_its_bound(self):
        for evaluator in ("none", "estimate", "simulate"):
            out = self.pack("--evaluator", evaluator)
            self.assertEqual([(mesh["dp"], mesh["sp"], mesh["scheme"]) for mesh in out["meshes"]],
                             [(1, 4, "pool"), (2, 2, "replicas"), (4, 1, "replicas")])
            for mesh in out["meshes"]:
                self.assertEqual(mesh["reason"], "")
                self.assertGreaterEqual(mesh["gain"], 0)
                self.assertGreaterEqual(mesh["packed"]["modelled_seconds"], mesh["bound_seconds"] * (1 - 1e-9))
                self.assertEqual(mesh["packed"]["planned_seconds"] is None, evaluator == "none")

    def test_packing_by_cost_gains_over_first_fit_that_puts_the_long_documents_together(self):
        out = self.pack("--dp", 2)
        self.assertEqual([mesh["dp"] for mesh in out["meshes"]], [1, 2])
        replicas = out["meshes"][1]
        self.assertGreater(replicas["modelled_gain"], 0.01)
        self.assertGreater(replicas["gain"], 0.01)
        self.assertAlmostEqual(replicas["packed"]["cost_over_mean"], 1)
        self.assertGreater(replicas["first_fit"]["cost_over_mean"], 1.01)

    def test_documents_stay_in_their_global_batch_and_each_comes_once(self):
        self.write_lengths([100] * 5 + [450, 60, 40, 700, 10])
        options = ("--gpus", 2, "--tokens", 520, "--lengths", "lengths.json", "--tokens-per-rank", 600, "--dp", 2)
        self.succeed("hsap-plan", "pack", *options, "--batches", 4, "--out", "packing.json")
        packing = json.loads((self.folder / "packing.json").read_text(encoding="utf-8"))
        batches = [sorted(document for replica in batch["replicas"] for micro_batch in replica["micro_batches"]
                          for document in micro_batch["documents"]) for batch in packing["batches"]]
        # In order: 5 x 100; 450 and 60; 40 (the next piece is 520 long); 520. The rest of 700 begins a batch that is not asked for.
        self.assertEqual(batches, [[0, 1, 2, 3, 4], [5, 6], [7], [8]])
        self.assertIn("1 of 10 documents longer than a global batch", self.succeed("hsap-plan", "pack", *options))
        later = self.succeed_json("hsap-plan", "pack", *options, "--batch", 1)
        self.assertEqual([batch["batch"] for batch in later["batches"]], [1])
        self.assertIn("fills 5 global batches", self.refuse(1, "hsap-plan", "pack", *options, "--batches", 6))

    def test_a_micro_batch_of_the_file_is_a_batch_for_plan(self):
        packing = self.packing_file("--dp", 2, "--tokens-per-rank", 12000)
        seen = []
        for replica in packing["batches"][0]["replicas"]:
            self.assertEqual(len(replica["gpus"]), packing["sp"])
            for micro_batch in replica["micro_batches"]:
                offsets = micro_batch["cu_seqlens"]
                self.assertLessEqual(offsets[-1], packing["tokens_per_rank"] * packing["sp"])
                self.assertEqual([b - a for a, b in zip(offsets, offsets[1:])], [SKEWED[d] for d in micro_batch["documents"]])
                seen += micro_batch["documents"]
        self.assertEqual(sorted(seen), list(range(len(SKEWED))))
        replica = packing["batches"][0]["replicas"][-1]
        micro_batch = replica["micro_batches"][0]
        (self.folder / "micro-batch.json").write_text(json.dumps(micro_batch), encoding="utf-8")
        self.succeed("hsap-plan", "plan", "--lengths", "micro-batch.json", "--gpus", ",".join(map(str, replica["gpus"])) if
                     len(replica["gpus"]) > 1 else 1, "--strategy", "hsap", "--evaluator", "estimate", "--out", "plan.json")
        explained = self.succeed_json("hsap-plan", "explain", "plan.json")
        self.assertAlmostEqual(explained["placement"]["tokens"]["mean"], micro_batch["cu_seqlens"][-1] / len(replica["gpus"]))

    def test_the_table_fits_the_page_and_says_what_is_gained_and_assumed(self):
        text = self.succeed("hsap-plan", "pack", *OPTIONS, *with_room(()))
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        for word in ("pool", "replicas", "first-fit", "gain", "bound", "chosen", "32,000 tokens per rank, as asked for", "estimate"):
            self.assertIn(word, text)
        by_memory = self.succeed("hsap-plan", "pack", *SMALL, "--evaluator", "none")
        self.assertIn("assumed", by_memory)
        self.assertLessEqual(max(map(len, by_memory.splitlines())), 120)

    def test_plans_hold_no_more_tokens_on_a_rank_than_asked_for(self):
        out = self.pack("--tokens-per-rank", 8000)
        held = [micro_batch["most_tokens_of_a_rank"] for batch in out["batches"] for replica in batch["replicas"]
                for micro_batch in replica["micro_batches"]]
        self.assertLessEqual(max(held), 8000)
        self.assertEqual([mesh["dp"] for mesh in out["meshes"] if mesh["reason"]], [4])  # 16,000 tokens need two ranks

    def test_attention_alone_and_barriers_are_packed_too(self):
        layer = self.pack("--dp", 2)["chosen"]["packed"]["planned_seconds"]
        self.assertLess(self.pack("--dp", 2, "--objective", "attention")["chosen"]["packed"]["planned_seconds"], layer)
        self.assertGreaterEqual(self.pack("--dp", 2, "--barrier")["meshes"][1]["packed"]["modelled_seconds"], 0)

    def test_mistakes_are_answered_with_what_works(self):
        def refuse(*arguments):
            return self.refuse(1, "hsap-plan", "pack", *OPTIONS, *with_room(arguments))
        self.assertIn("1, 2, 4", refuse("--dp", 3))
        self.assertIn("expected estimate", refuse("--evaluator", "guess"))
        self.assertIn("expected layer", refuse("--objective", "tokens"))
        self.assertIn("at least 1", refuse("--batches", 0))
        for tokens in (0, 10**15):
            self.assertIn("at least 1", refuse("--tokens-per-rank", tokens))
        line = refuse("--tokens-per-rank", 2000)
        self.assertIn("document 0 of global batch 0 has 16,000 tokens", line)
        self.assertIn("4,000 tokens per rank would do", line)
        self.assertIn("--help", self.refuse(2, "hsap-plan", "pack", "--dp", "two"))
        self.assertIn("missing", refuse("--out", "missing/packing.json"))

    def test_a_ready_batch_is_one_global_batch(self):
        (self.folder / "ready.json").write_text('{"cu_seqlens": [0, 300, 310, 700]}', encoding="utf-8")
        out = self.succeed_json("hsap-plan", "pack", "--gpus", 2, "--lengths", "ready.json", "--evaluator", "none")
        self.assertEqual((out["inputs"]["tokens"], out["inputs"]["batches"]), (700, 1))
        for arguments in (("--tokens", 800), ("--batch", 1), ("--batches", 2)):
            self.assertIn("one packed batch of 700 tokens already",
                          self.refuse(1, "hsap-plan", "pack", "--lengths", "ready.json", *arguments))


if __name__ == "__main__":
    unittest.main()
