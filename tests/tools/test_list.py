"""hsap-plan list, and that everything it names can be used."""
import re
import unittest

from commands import SOURCE_DIR, STRATEGIES, CommandTest


class List(CommandTest):
    def names(self, title):
        text = self.succeed("hsap-plan", "list")
        section = re.search(rf"^{title}.*\n((?:  .*\n)+)", text, re.MULTILINE)
        self.assertIsNotNone(section, text)
        return re.findall(r"^  (\S+)", section.group(1), re.MULTILINE)

    def test_all_that_is_built_in_is_listed(self):
        self.assertEqual(set(self.names("Strategies")), set(STRATEGIES))
        self.assertEqual(self.names("Clusters"), sorted(path.stem for path in (SOURCE_DIR / "topologies").glob("*.yaml")))
        self.assertEqual(self.names("Document lengths"), sorted(path.stem for path in (SOURCE_DIR / "traces").glob("*.csv")))
        self.assertIn("Llama-3.1-8B", self.names("Models"))

    def test_every_cluster_model_and_distribution_can_be_compared_on(self):
        for option, title in (("--cluster", "Clusters"), ("--model", "Models"), ("--lengths", "Document lengths")):
            for name in self.names(title):
                with self.subTest(option + " " + name):
                    out = self.succeed_json("hsap-plan", "compare", option, name, "--gpus", 1, "--tokens", 300, "--evaluator", "estimate")
                    self.assertTrue(any(row["valid"] for row in out["results"]), out)


if __name__ == "__main__":
    unittest.main()
