"""Every mistake is one line that says what to do; 1 = an input is wrong, 2 = the command line cannot be understood."""
import subprocess
import unittest

from commands import SMALL, CommandTest


class WrongUsage(CommandTest):
    def test_what_cannot_be_parsed_ends_with_2_and_points_to_help(self):
        for arguments in (("--nonsense",), ("nonsense",), ("compare", "--nonsense"), ("compare", "--tokens"), ("compare", "--tokens", "many"),
                          ("compare", "--tokens", "-5"), ("compare", "--tokens", "010"), ("compare", "--seed", "1.5"), ("plan",),
                          ("trace", "--out", "trace.json"), ("compare", "--tokens", "99999999999999999999")):
            self.assertIn("--help", self.refuse(2, "hsap-plan", *arguments), arguments)
        for arguments in ((), ("plan.json", "--nonsense"), ("plan.json", "--repeat", "often")):
            self.assertIn("--help", self.refuse(2, "hsap-run", *arguments), arguments)

    def test_help_and_version_work_everywhere(self):
        for command in (("hsap-plan",), ("hsap-plan", "compare"), ("hsap-plan", "plan"), ("hsap-plan", "trace"), ("hsap-plan", "explain"),
                        ("hsap-plan", "list"), ("hsap-plan", "pack"), ("hsap-plan", "bench-planner"), ("hsap-run",)):
            self.assertIn("Example:", self.succeed(*command, "--help"))
        for command in ("hsap-plan", "hsap-run"):
            self.assertRegex(self.succeed(command, "--version"), rf"^{command} \d+\.\d+\.\d+\n$")


class BadInput(CommandTest):
    def refuse_compare(self, *arguments):
        return self.refuse(1, "hsap-plan", "compare", *arguments)

    def test_unknown_names_are_answered_with_the_known_ones(self):
        self.assertIn("zigzag", self.refuse_compare("--strategy", "rings"))
        self.assertIn("dgx-h100", self.refuse_compare("--cluster", "dgx-h1000"))
        self.assertIn("Llama-3.1-8B", self.refuse_compare("--model", "Llama"))
        self.assertIn("long-tail", self.refuse_compare("--lengths", "short-tail"))
        self.assertIn("simulate", self.refuse_compare("--evaluator", "guess"))
        self.assertIn("full", self.refuse_compare("--layer", "hollow"))

    def test_degrees_that_do_not_fit_are_answered_with_those_that_would(self):
        self.assertIn("2x2", self.refuse_compare(*SMALL, "--strategy", "usp", "--degrees", "3x5"))
        self.assertIn("8x2", self.refuse_compare(*SMALL, "--degrees", "eight"))
        line = self.refuse(1, "hsap-plan", "plan", *SMALL, "--strategy", "usp", "--degrees", "3x1", "--out", "plan.json")
        self.assertIn("2x2", line)

    def test_gpus_must_exist_and_ascend(self):
        for gpus in ("0", "17", "0,16", "1,0", "1,1", "0,", ",1", "two", "0-3"):
            self.assertIn("16", self.refuse_compare("--gpus", gpus), gpus)

    def test_mask_rules_must_be_rules_and_linear_layers_are_causal(self):
        for rule in ("causall", "window:0", "window", "sinks:4", "prefix:8,window:8", ""):
            line = self.refuse_compare("--mask", rule)
            self.assertIn("window:LEFT,RIGHT", line)
            self.assertIn(f'"{rule}"', line)
        linear = ("--model", "Qwen3.5-27B", "--layer", "linear", "--mask")
        self.assertIn("only causal works", self.refuse_compare(*linear, "full"))

    def test_files_must_be_files(self):
        for option in ("--cluster", "--model", "--lengths"):
            self.assertIn("directory", self.refuse_compare(option, "/tmp"))
            self.assertIn("no such file", self.refuse_compare(option, "./missing"))
        self.assertIn("no such file", self.refuse(1, "hsap-run", "missing.json"))
        self.assertIn("directory", self.refuse(1, "hsap-plan", "trace", "/tmp", "--out", "trace.json"))

    def test_sizes_must_make_sense(self):
        self.assertIn("--tokens", self.refuse_compare("--tokens", "0"))
        self.assertIn("--batch", self.refuse_compare("--batch", "999999999999"))

    def test_a_length_file_with_a_bad_line_is_named_with_the_line(self):
        (self.folder / "lengths.txt").write_text("100\n20x\n", encoding="utf-8")
        self.assertIn("lengths.txt:2:", self.refuse_compare("--lengths", "lengths.txt"))

    def test_a_folder_without_data_is_refused(self):
        self.assertIn("HSAP_DATA_DIR", self.refuse(1, "hsap-plan", HSAP_DATA_DIR="/nowhere"))

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([self.bin_dir / "hsap-plan", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "hsap-plan: standard output cannot be written\n"))


if __name__ == "__main__":
    unittest.main()
