"""hsap-plan trace: a file that Perfetto can open, with every rank and stream."""
import json
import unittest

from commands import CommandTest


class Trace(CommandTest):
    def setUp(self):
        super().setUp()
        self.plan = json.loads(self.make_plan("--strategy", "usp", "--degrees", "2x2").read_text(encoding="utf-8"))
        self.said = self.succeed("hsap-plan", "trace", "plan.json", "--out", "trace.json")
        trace = json.loads((self.folder / "trace.json").read_text(encoding="utf-8"))
        self.events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.names = [event for event in trace["traceEvents"] if event["ph"] == "M"]

    def test_every_rank_is_a_process_with_a_row_per_stream(self):
        self.assertEqual({event["pid"] for event in self.events}, {0, 1, 2, 3})
        threads = {(event["pid"], event["args"]["name"]) for event in self.names if event["name"] == "thread_name"}
        self.assertEqual(threads, {(rank, row) for rank in range(4) for row in ("compute", "communication")})
        processes = {event["args"]["name"] for event in self.names if event["name"] == "process_name"}
        self.assertTrue(any("rank 3" in name and "node 0" in name for name in processes), processes)

    def test_ops_of_a_stream_follow_each_other_and_backward_follows_forward(self):
        for rank in range(4):
            for stream in (0, 1):
                row = [event for event in self.events if (event["pid"], event["tid"]) == (rank, stream)]
                for before, after in zip(row, row[1:]):
                    self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-6)
        last_forward = max(event["ts"] + event["dur"] for event in self.events if event["cat"] == "forward")
        first_backward = min(event["ts"] for event in self.events if event["cat"] == "backward")
        self.assertGreaterEqual(first_backward, last_forward - 1e-6)

    def test_the_end_is_what_was_predicted(self):
        end = max(event["ts"] + event["dur"] for event in self.events)
        predicted = self.plan["predicted"]
        self.assertAlmostEqual(end, 1e6 * (predicted["forward_seconds"] + predicted["backward_seconds"]), delta=1e-3)

    def test_what_is_sent_is_received(self):
        exchanges = [event["args"] for event in self.events if event["name"].startswith("exchange")]
        self.assertGreater(len(exchanges), 0)
        self.assertEqual(sum(args["bytes_sent"] for args in exchanges), sum(args["bytes_received"] for args in exchanges))
        self.assertTrue(all(event["args"]["flops"] > 0 for event in self.events if event["name"].startswith("attend")))


if __name__ == "__main__":
    unittest.main()
