// Document lengths from text of every format, histograms, and drawing from them.
#include "planner/inputs/document_lengths.hpp"

#include <catch2/catch.hpp>
#include <ctime>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "planner/inputs/lengths/histogram_reader.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Lengths = std::vector<Token>;

LengthSource parse(const std::string& text, std::optional<std::string> column = std::nullopt) {
  return parse_document_lengths(text, "f", {std::move(column)});
}

Lengths lengths_of(const std::string& text, std::optional<std::string> column = std::nullopt) {
  return parse(text, std::move(column)).lengths;
}

/// The message with which `text` is refused; "accepted" when it is not. Every message must be one line.
std::string refusal(const std::string& text, std::optional<std::string> column = std::nullopt) {
  try {
    parse(text, std::move(column));
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "accepted";
}

TEST_CASE("lengths: one per line, with CRLF, blank lines, a byte-order mark, comments and no newline at the end") {
  CHECK(lengths_of("368\n99\n1330\n") == Lengths{368, 99, 1330});
  CHECK(lengths_of("\xEF\xBB\xBF# tokens\r\n\r\n368\r\n 99 \r\n\r\n1330") == Lengths{368, 99, 1330});
}

TEST_CASE("lengths: a zero length is an empty document, left out and reported") {
  const LengthSource source = parse("5\n0\n7\n0\n");
  CHECK(source.lengths == Lengths{5, 7});
  CHECK(source.remarks == std::vector<std::string>{"2 empty documents ignored"});
  CHECK(parse("[3, 0]").remarks == std::vector<std::string>{"1 empty document ignored"});
  CHECK_THAT(refusal("0\n0\n"), Contains("no document has tokens"));
}

TEST_CASE("lengths: what is no length is refused with its line") {
  CHECK_THAT(refusal("12\n-5\n"),
             Equals("f:2: found \"-5\", expected a document length: a whole number of tokens from 0 to 2^40"));
  CHECK_THAT(refusal("12\n1.5\n"), Contains("f:2: found \"1.5\""));
  CHECK_THAT(refusal("12\n13 tokens\n"), Contains("f:2: found \"13 tokens\""));
  CHECK_THAT(refusal("1,234\n"), Contains("f:1: found \"1,234\"") && Contains("without thousands separators"));
  CHECK_THAT(refusal("12\n99999999999999999999\n"), Contains("f:2: "));
  CHECK_THAT(refusal("1099511627777\n"), Contains("f:1: "));  // 2^40 + 1
  CHECK(lengths_of("1099511627776\n") == Lengths{Token{1} << 40});
}

TEST_CASE("lengths: text that is no list of lengths is refused with what would work") {
  CHECK_THAT(refusal(""), Contains("f: is empty"));
  CHECK_THAT(refusal("\n \n"), Contains("f: is empty"));
  CHECK_THAT(refusal("# nothing\n"), Contains("nothing but comments"));
  CHECK_THAT(refusal(std::string("12\n\0\n", 5)), Contains("not UTF-8 text (byte 3 is 0)"));
  CHECK_THAT(refusal("hello\nworld\n"), Contains("expected a whole number per line, a JSON array"));
  CHECK_THAT(refusal("hello"), Contains("no records"));
  CHECK_THAT(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:a4d0\nsize 51429517\n"),
             Contains("f:1: this is a Git LFS pointer") && Contains("git lfs pull"));
}

TEST_CASE("lengths: missing files and folders are refused") {
  CHECK_THROWS_WITH(read_document_lengths("/no/such/file"), Equals("/no/such/file: no such file"));
  CHECK_THROWS_WITH(read_document_lengths("/"), Contains("is a directory"));
}

TEST_CASE("lengths: a JSON array of whole numbers") {
  CHECK(lengths_of("[2690, 6388,\n 1150]") == Lengths{2690, 6388, 1150});
  CHECK(lengths_of("{\"lengths\": [0, 40, 20]}") == Lengths{40, 20});
  CHECK_THAT(refusal("[1, 2.5]"), Contains("entry 1: found 2.5"));
  CHECK_THAT(refusal("[1, -2]"), Contains("entry 1: found -2"));
  CHECK_THAT(refusal("[1, \"2\"]"), Contains("entry 1: found \"2\""));
  CHECK_THAT(refusal("[1, [2]]"), Contains("entry 1: found an array"));
  CHECK_THAT(refusal("[1, null]"), Contains("entry 1: found null"));
  CHECK_THAT(refusal("[]"), Contains("empty array"));
  CHECK_THAT(refusal("[1,\n 2"), Contains("f:2: not valid JSON: column ") && Contains("is the file complete?"));
  CHECK_THAT(refusal("[1, 1e999]"), Contains("not valid JSON"));
}

TEST_CASE("lengths: JSON lines with a column, and an array of objects") {
  const std::string lines = "{\"time\": 0, \"input\": 40160}\n\n{\"time\": 3, \"input\": 0}\n{\"time\": 4, \"input\": 7}\n";
  CHECK(lengths_of(lines, "input") == Lengths{40160, 7});
  CHECK_THAT(refusal(lines), Contains("f:1: several columns hold whole numbers; choose one with --column: input, time"));
  CHECK_THAT(refusal(lines, "tokens"), Contains("has no column \"tokens\"; the columns are: input, time"));
  CHECK(lengths_of("{\"id\": \"a\", \"n\": 5}\n{\"id\": \"b\", \"n\": 6}") == Lengths{5, 6});
  CHECK(lengths_of("[{\"n\": 5}, {\"n\": 6}]") == Lengths{5, 6});
  CHECK(lengths_of("{\"n\": 5}") == Lengths{5});
  CHECK_THAT(refusal("{\"n\": 5}\n{\"m\": 6}\n"), Contains("f:2: has no \"n\""));
  CHECK_THAT(refusal("{\"n\": 5}\n{\"n\": null}\n"), Contains("f:2: \"n\": found null"));
  CHECK_THAT(refusal("{\"n\": 5}\n{\"n\": \n"), Contains("f:2: not valid JSON"));
  CHECK_THAT(refusal("{\"n\": 5}\n7\n"), Contains("f:2: found 7, expected an object"));
}

TEST_CASE("lengths: CSV with quoted fields, CRLF and the only column with whole numbers") {
  const LengthSource source = parse("name,tokens\r\n\"a, \"\"b\"\"\r\nc\",\"1,234\"\r\nd,7\r\n");
  CHECK(source.lengths == Lengths{1234, 7});
  CHECK(source.remarks == std::vector<std::string>{"lengths are the column \"tokens\""});
  CHECK(lengths_of("tokens\n5\n6\n") == Lengths{5, 6});
  CHECK(lengths_of("in,out\n5,6\n7,8\n", "out") == Lengths{6, 8});
  CHECK_THAT(refusal("in,out\n5,6\n"), Contains("f:2: several columns hold whole numbers; choose one with --column: in, out"));
  CHECK_THAT(refusal("in,out\n5,6\n", "both"), Contains("has no column \"both\"; the columns are: in, out"));
  CHECK_THAT(refusal("a,a\n5,6\n", "a"), Contains("several columns called \"a\""));
}

TEST_CASE("lengths: CSV errors name the line, also behind a field with a line break") {
  CHECK_THAT(refusal("name,tokens\n\"x\ny\",5\nz,six\n"), Contains("f:4: column tokens: found \"six\""));
  CHECK_THAT(refusal("tokens\n5\n1,234\n"), Contains("f:3: found 2 fields, the header has 1"));
  CHECK_THAT(refusal("name,tokens\n\"x,5\n"), Contains("f:2: a quoted field is never closed"));
  CHECK_THAT(refusal("name,tokens\n\"x\"y,5\n"), Contains("f:2: found \"y\" behind a quoted field"));
  CHECK_THAT(refusal("\"5\"\n6\n"), Contains("expected a header line"));
}

TEST_CASE("lengths: a column is refused for files that have none") {
  CHECK_THAT(refusal("5\n6\n", "n"), Contains("has no column \"n\""));
  CHECK_THAT(refusal("[5, 6]", "n"), Contains("has no column \"n\""));
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 5]}", "n"), Contains("has no column \"n\""));
}

TEST_CASE("A4 (Megatron-LM 3282): [0, 16, 40, 40, 40] is two documents and two empty ones") {
  for (const std::string text : {"[0, 16, 40, 40, 40]", "{\"cu_seqlens\": [0, 16, 40, 40, 40]}"}) {
    const LengthSource source = parse(text);
    CHECK(source.lengths == Lengths{16, 24});
    CHECK(source.fixed_batch);
    CHECK(source.remarks.front() == "2 empty documents ignored");
  }
}

TEST_CASE("A5 (Megatron-Bridge 4489): the first offset below its predecessor is refused with index and value") {
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 16, 40, -1]}"), Contains("cu_seqlens[3] is -1, below cu_seqlens[2] = 40"));
  CHECK_THAT(refusal("[0, 16, 40, 20, 60]"),
             Contains("cu_seqlens[3] is 20, below cu_seqlens[2] = 40") && Contains("\"lengths\""));
  CHECK_THAT(refusal("{\"cu_seqlens\": [5, 16]}"), Contains("cu_seqlens[0] is 5, expected 0"));
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 1.5]}"), Contains("cu_seqlens[1] is 1.5"));
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 9223372036854775807]}"), Contains("cu_seqlens[1] is 9223372036854775807"));
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 18446744073709551615]}"), Contains("cu_seqlens[1] is 18446744073709551615"));
  CHECK_THAT(refusal("{\"cu_seqlens\": 7}"), Contains("cu_seqlens is 7, expected an array"));
  CHECK_THAT(refusal("[0]"), Contains("no document has tokens"));
}

TEST_CASE("A2 (TransformerEngine 3331): 698 tokens padded to 704 are 698 tokens and 6 padding tokens, 0.85 %") {
  const LengthSource source = parse("{\"cu_seqlens\": [0, 698], \"cu_seqlens_padded\": [0, 704]}");
  CHECK(source.lengths == Lengths{698});
  CHECK(source.remarks == std::vector<std::string>{"6 padding tokens (0.85 %) left out"});
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 698], \"cu_seqlens_padded\": [0, 690]}"),
             Contains("cu_seqlens_padded[1] is 690: document 0 has 698 tokens, its padded length is 690"));
  CHECK_THAT(refusal("{\"cu_seqlens\": [0, 698], \"cu_seqlens_padded\": [0, 350, 704]}"),
             Contains("has 3 entries, cu_seqlens has 2"));
  CHECK_THAT(refusal("{\"lengths\": [698], \"cu_seqlens_padded\": [0, 704]}"), Contains("needs \"cu_seqlens\""));
}

TEST_CASE("cu_seqlens: an array that begins with 0 says how it was read, and other keys are named as not read") {
  CHECK_THAT(parse("[0, 7, 14, 16]").remarks.front(), Contains("read as cu_seqlens"));
  CHECK_THAT(parse("0\n7\n14\n").remarks.back(), Contains("if these are cu_seqlens"));
  CHECK(parse("{\"cu_seqlens\": [0, 7], \"cp\": 8, \"source\": \"x\"}").remarks ==
        std::vector<std::string>{"not read: cp, source"});
  CHECK_THAT(refusal("[{\"cu_seqlens\": [0, 7]}]"), Contains("entry 0: holds cu_seqlens"));
}

TEST_CASE("histogram: our own table of shortest, longest and weight") {
  const LengthSource source = parse("# from\nshortest,longest,weight\n1,10,3\n11,50,0\n51,100,0.5\n");
  REQUIRE(source.histogram);
  CHECK(source.lengths.empty());
  REQUIRE(source.histogram->buckets.size() == 2);
  CHECK(source.histogram->buckets[1].shortest == 51);
  CHECK(source.histogram->buckets[1].longest == 100);
  CHECK(source.histogram->buckets[1].weight == 0.5);
  CHECK_THAT(refusal("shortest,longest,weight\n1,10,3\n10,50,2\n"), Contains("f:3: ") && Contains("do not overlap"));
  CHECK_THAT(refusal("shortest,longest,weight\n10,1,3\n"), Contains("f:2: ") && Contains("shortest <= longest"));
  CHECK_THAT(refusal("shortest,longest,weight\n1,10,-3\n"), Contains("f:2: found weight \"-3\""));
  CHECK_THAT(refusal("shortest,longest,weight\n1,10,nan\n"), Contains("f:2: found weight \"nan\""));
  CHECK_THAT(refusal("shortest,longest,weight\n1,10,0\n"), Contains("no range has documents"));
}

TEST_CASE("histogram: quoted ranges with counts beside rounded percentages") {
  const std::string text = "range,number,percentage(%)\n\"[0, 10]\",30254,0.22\n\"[11, 50]\",391188,2.91\n";
  const LengthSource source = parse(text);
  REQUIRE(source.histogram);
  REQUIRE(source.histogram->buckets.size() == 2);
  CHECK(source.histogram->buckets[0].shortest == 1);
  CHECK(source.histogram->buckets[0].longest == 10);
  CHECK(source.histogram->buckets[1].weight == 391188);
  CHECK_THAT(source.remarks.front(), Contains("range from 0 to 10 is read as from 1"));
  CHECK(parse(text, "percentage(%)").histogram->buckets[1].weight == 2.91);
  CHECK_THAT(refusal("range,share\n\"[1, 10]\",0.5\n"), Contains("name the column of weights"));
}

TEST_CASE("histogram: Markdown table with en dashes, K, thousands separators and an empty open range") {
  const std::string head = "# Statistics\n- **Total**: 35\n\n| Bucket | Count | Percent |\n|--------|------:|--------:|\n";
  const std::string rows =
      "| <1K | 2,523 | 22.6% |\n| 1\xE2\x80\x93"
      "2K | 1,812 | 16.2% |\n| 2\xE2\x80\x93"
      "4K | 3,387 | 30.3% |\n";
  const LengthSource source = parse(head + rows + "| >4K | 0 | 0.0% |\n\n## Packed\n");
  REQUIRE(source.histogram);
  const auto& buckets = source.histogram->buckets;
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].shortest == 1);
  CHECK(buckets[0].longest == 1023);
  CHECK(buckets[0].weight == 2523);
  CHECK(buckets[1].shortest == 1024);
  CHECK(buckets[1].longest == 2047);
  CHECK(buckets[2].longest == 4096);
  CHECK_THAT(refusal(head + rows + "| >4K | 3 | 0.0% |\n"), Contains("f:9: the open range above 4096 holds documents"));
  CHECK_THAT(refusal("| a | b |\n|---|---|\n| x | y |\n"), Contains("its tables hold no histogram"));
}

TEST_CASE("histogram: ranges are read as written or not at all") {
  const auto range = [](const char* text) {
    const auto found = parse_length_range(text);
    return found ? std::pair<Token, Token>(found->shortest, found->longest.value_or(-1)) : std::pair<Token, Token>(-1, -1);
  };
  const std::pair<Token, Token> none(-1, -1);
  CHECK(range("[101, 200]") == std::pair<Token, Token>(101, 200));
  CHECK(range("1,024-2,048") == std::pair<Token, Token>(1024, 2048));
  CHECK(range("100..200") == std::pair<Token, Token>(100, 200));
  CHECK(range("1-2M") == std::pair<Token, Token>(1 << 20, 2 << 20));
  CHECK(range("512-1K") == none);  // 512 or 512K: the suffix of the upper bound holds for both only where both read on
  CHECK(range("32K+") == std::pair<Token, Token>(32768, -1));
  CHECK(range(">32K") == std::pair<Token, Token>(32769, -1));
  CHECK(range("200-100") == none);
  CHECK(range("1-2000000M") == none);  // longer than any document
  CHECK(range("101") == none);
  CHECK(range("2023-11-16") == none);
  CHECK(range("a-b") == none);
  CHECK(without_thousands_separators("13,463,214") == "13463214");
  CHECK(without_thousands_separators("1,23") == "1,23");
  CHECK(without_thousands_separators("1234,567") == "1234,567");
  CHECK(without_thousands_separators("1,2345") == "1,2345");
}

TEST_CASE("draw: same seed, same documents, and the first ones are fixed for ever") {
  const LengthHistogram histogram{"h", {{1, 10, 1}, {11, 1000, 2}, {1001, 65536, 1}}};
  const Lengths drawn = draw_lengths(histogram, 100'000, 7);
  CHECK(drawn == draw_lengths(histogram, 100'000, 7));
  CHECK(drawn != draw_lengths(histogram, 100'000, 8));
  const Token total = std::accumulate(drawn.begin(), drawn.end(), Token{0});
  CHECK(total >= 100'000);
  CHECK(total - drawn.back() < 100'000);
  const Lengths first(drawn.begin(), drawn.begin() + 3);
  CHECK(first == Lengths{62265, 9, 1});  // worked out by hand from the generator's first six numbers
}

TEST_CASE("draw: buckets come by weight and lengths are uniform inside them") {
  const LengthHistogram histogram{"h", {{1, 4, 3}, {5, 5, 0}, {10, 10, 1}}};
  std::map<Token, double> counts;
  const Lengths drawn = draw_lengths(histogram, 400'000, 11);
  for (const Token length : drawn) ++counts[length];
  CHECK(counts.size() == 5);
  for (const Token length : {1, 2, 3, 4})
    CHECK(counts[length] / static_cast<double>(drawn.size()) == Approx(3.0 / 16).epsilon(0.03));
  CHECK(counts[10] / static_cast<double>(drawn.size()) == Approx(0.25).epsilon(0.03));
}

TEST_CASE("draw: a histogram that makes no sense is refused") {
  CHECK_THROWS_WITH(draw_lengths({"h", {}}, 10, 1), Contains("no bucket has a weight"));
  CHECK_THROWS_WITH(draw_lengths({"h", {{0, 5, 1}}}, 10, 1), Contains("bucket 0 is 0 to 5"));
  CHECK_THROWS_WITH(draw_lengths({"h", {{1, 5, 1}, {7, 6, 1}}}, 10, 1), Contains("bucket 1 is 7 to 6"));
  CHECK_THROWS_WITH(draw_lengths({"h", {{1, 5, 1}}}, 0, 1), Contains("asked for 0 tokens"));
}

TEST_CASE("traces: every built-in distribution is read by the same reader, and long-tail fits the default batch") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(HSAP_SOURCE_DIR) / "traces")) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    CAPTURE(entry.path());
    const LengthSource source = read_document_lengths(entry.path());
    REQUIRE(source.histogram);
    CHECK(source.histogram->name == entry.path().stem());
    CHECK(source.remarks.empty());
    CHECK_FALSE(draw_lengths(*source.histogram, 1 << 20, 1).empty());
    if (source.histogram->name == "long-tail") CHECK(source.histogram->buckets.back().longest == 131'072);
  }
  CHECK(files == 7);
}

TEST_CASE("lengths: a million lines are read fast") {
  std::string text;
  for (int i = 1; i <= 1'000'000; ++i) text += std::to_string(i % 5000 + 1) + "\n";
  const std::clock_t start = std::clock();  // processor time: a busy machine does not count
  CHECK(lengths_of(text).size() == 1'000'000);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 2.0);  // 0.1 s optimised
}

}  // namespace
}  // namespace hsap
