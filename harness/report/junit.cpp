#include "harness/report/junit.h"

#include <pugixml.hpp>

#include <sstream>

namespace assay {

namespace {

// XML 1.0 has no control characters but tab and newline, not even escaped.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  return text;
}

} // namespace

std::string junit_xml(std::span<const ReplayOutcome> outcomes) {
  std::size_t failed = 0, errors = 0;
  for (const ReplayOutcome& outcome : outcomes) {
    errors += outcome.status == ReplayStatus::error;
    failed += outcome.status == ReplayStatus::failed || outcome.status == ReplayStatus::fixed;
  }

  pugi::xml_document document;
  pugi::xml_node suite = document.append_child("testsuites").append_child("testsuite");
  suite.append_attribute("name") = "assay replay";
  suite.append_attribute("tests") = static_cast<unsigned long long>(outcomes.size());
  suite.append_attribute("failures") = static_cast<unsigned long long>(failed);
  suite.append_attribute("errors") = static_cast<unsigned long long>(errors);
  suite.append_attribute("skipped") = 0;
  for (const ReplayOutcome& outcome : outcomes) {
    pugi::xml_node test = suite.append_child("testcase");
    test.append_attribute("classname") = printable(outcome.file.parent_path().string()).c_str();
    test.append_attribute("name") = printable(outcome.file.filename().string()).c_str();
    if (outcome.status != ReplayStatus::passed) {
      pugi::xml_node failure = test.append_child(outcome.status == ReplayStatus::error ? "error" : "failure");
      failure.append_attribute("type") = std::string(name_of(outcome.status)).c_str();
      failure.append_attribute("message") = printable(outcome.why).c_str();
    }
    std::string notes;
    for (const std::string& note : outcome.notes) notes += printable(note) + "\n";
    if (!notes.empty()) test.append_child("system-out").text() = notes.c_str();
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

} // namespace assay
