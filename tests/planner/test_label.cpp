#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "planner/ir/label.hpp"

using namespace hsap;

TEST_CASE("label: a literal and a string of the same text are equal") {
  CHECK(Label("kv hop") == Label(std::string("kv hop")));
  CHECK(Label("kv hop") != Label("kv hops"));
  CHECK(Label() == Label(""));
}

TEST_CASE("label: a string may end before its label, also one that holds a zero") {
  std::vector<Label> labels;
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {  // enough that the place where they are kept grows
    std::string text = "buffer " + std::to_string(i);
    text += '\0';
    labels.emplace_back(text);
    expected.push_back(text);
    text.assign(text.size(), 'x');
  }
  for (std::size_t i = 0; i < labels.size(); ++i) CHECK(labels[i].text() == expected[i]);
}

TEST_CASE("label: threads may make labels of the same texts") {
  std::vector<std::vector<Label>> labels(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<Label>& mine : labels)
      threads.emplace_back([&mine] {
        for (int i = 0; i < 1000; ++i) mine.emplace_back("shared " + std::to_string(i));
      });
  }
  for (const std::vector<Label>& each : labels) CHECK(each == labels.front());
  CHECK(labels.front()[999].text() == "shared 999");
}
