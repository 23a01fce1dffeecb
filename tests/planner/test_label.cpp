#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "planner/ir/label.hpp"

using namespace hsap;

TEST_CASE("label: a literal and a string of the same text are equal") {
  CHECK(Label("kv hop") == Label(std::string("kv hop")));
  CHECK(Label("kv hop") != Label("kv hops"));
  CHECK(Label() == Label(""));
}

TEST_CASE("label: a string may end before its label and the label before its copies, also one that holds a zero") {
  std::vector<Label> copies;
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    std::string text = "buffer " + std::to_string(i);
    text += '\0';
    const Label label(text);
    copies.push_back(label);
    expected.push_back(text);
    text.assign(text.size(), 'x');
  }
  for (std::size_t i = 0; i < copies.size(); ++i) CHECK(copies[i].text() == expected[i]);
}
