#include "planner/inputs/cluster/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>

#include <sstream>

namespace hsap {
namespace {

/// Lets the parser walk a document without building it.
class IgnoredEvents : public YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

YAML::Node load_yaml_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  IgnoredEvents ignored;
  parser.HandleNextDocument(ignored);
  if (parser) throw YAML::Exception(YAML::Mark::null_mark(), "something follows the first document");
  return YAML::Load(text);
}

}  // namespace hsap
