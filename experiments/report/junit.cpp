#include "experiments/report/junit.h"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cstdint>

#include "experiments/report/stage_numbers.h"
#include "experiments/report/verdict_text.h"

namespace zerolab {
namespace {

/// XML 1.0 has no way to write most control characters, not even escaped.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text,
      [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
      },
      '?');
  return text;
}

class Suite {
 public:
  Suite(tinyxml2::XMLElement& parent, const Comparison& comparison, const StageComparison& stage)
      : element_(*parent.InsertNewChildElement("testsuite")), stage_(stage) {
    element_.SetAttribute("name", printable(stage.result.name).c_str());
    add_verdict(comparison.reference);
    const std::vector<std::string> said = checks_run(comparison, stage);
    for (const std::string& check : said) add_check(check, comparison.reference);
    add_unasked(comparison.config.checks, comparison.reference);
    const bool broke_off = stage.result.steps().empty() && comparison.config.trained_steps() > 0;
    if (broke_off) add_silent(comparison.config.checks, said);
    double seconds = 0;
    for (const double step : step_seconds(stage.result)) seconds += step;
    element_.SetAttribute("tests", tests_);
    element_.SetAttribute("failures", failures_);
    element_.SetAttribute("errors", 0);
    element_.SetAttribute("skipped", skipped_);
    element_.SetAttribute("time", fmt::format("{:.3f}", seconds).c_str());
  }

  int tests() const { return tests_; }
  int failures() const { return failures_; }

 private:
  tinyxml2::XMLElement& add_case(const std::string& name) {
    tinyxml2::XMLElement& test = *element_.InsertNewChildElement("testcase");
    test.SetAttribute("classname", printable("zerolab." + stage_.result.name).c_str());
    test.SetAttribute("name", printable(name).c_str());
    ++tests_;
    return test;
  }

  void fail(tinyxml2::XMLElement& test, const std::string& type, const std::string& message,
            const std::string& evidence) {
    tinyxml2::XMLElement& failure = *test.InsertNewChildElement("failure");
    failure.SetAttribute("type", printable(type).c_str());
    failure.SetAttribute("message", printable(message).c_str());
    failure.SetText(printable(evidence).c_str());
    ++failures_;
  }

  void add_verdict(const std::string& reference) {
    tinyxml2::XMLElement& test = add_case("verdict");
    if (stage_.verdict != Verdict::kDiverged) {
      const std::string text = fmt::format("{}: {}", name_of(stage_.verdict), stage_.reason);
      test.InsertNewChildElement("system-out")->SetText(printable(text).c_str());
      return;
    }
    fail(test, "diverged", stage_.reason, evidence_of_verdict(reference));
  }

  std::string evidence_of_verdict(const std::string& reference) const {
    std::string evidence = stage_.reason;
    if (stage_.first_divergence) evidence += "\n" + divergence_text(stage_, reference);
    return evidence;
  }

  void add_check(const std::string& check, const std::string& reference) {
    tinyxml2::XMLElement& test = add_case(check);
    std::string evidence;
    const Finding* first = nullptr;
    for (const Finding& finding : stage_.findings) {
      if (finding.check != check) continue;
      if (!first) first = &finding;
      evidence += finding_text(finding) + "\n";
    }
    if (first) {
      fail(test, check, first->message, evidence);
    } else if (failed(stage_, check)) {
      fail(test, check, stage_.reason, evidence_of_verdict(reference));
    }
  }

  /// Findings of checks that nobody asked for by name must not be lost.
  void add_unasked(std::vector<std::string> known, const std::string& reference) {
    for (const Finding& finding : stage_.findings) {
      if (std::ranges::find(known, finding.check) != known.end()) continue;
      known.push_back(finding.check);
      add_check(finding.check, reference);
    }
  }

  /// A run that broke off says nothing about what its checks would have found.
  void add_silent(const std::vector<std::string>& asked, const std::vector<std::string>& said) {
    for (const std::string& check : asked) {
      if (std::ranges::find(said, check) != said.end()) continue;
      tinyxml2::XMLElement& test = add_case(check);
      test.InsertNewChildElement("skipped")->SetAttribute("message", "the run broke off");
      ++skipped_;
    }
  }

  tinyxml2::XMLElement& element_;
  const StageComparison& stage_;
  int tests_ = 0;
  int failures_ = 0;
  int skipped_ = 0;
};

}  // namespace

std::string junit_xml(const Comparison& comparison) {
  tinyxml2::XMLDocument document;
  document.InsertEndChild(document.NewDeclaration());
  tinyxml2::XMLElement* suites = document.NewElement("testsuites");
  document.InsertEndChild(suites);
  suites->SetAttribute("name", "zerolab compare");
  int tests = 0, failures = 0;
  for (const StageComparison& stage : comparison.stages) {
    const Suite suite(*suites, comparison, stage);
    tests += suite.tests();
    failures += suite.failures();
  }
  suites->SetAttribute("tests", tests);
  suites->SetAttribute("failures", failures);
  suites->SetAttribute("time", fmt::format("{:.3f}", comparison.seconds).c_str());
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return printer.CStr();
}

}  // namespace zerolab
