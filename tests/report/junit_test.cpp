#include "experiments/report/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <string>

#include "tests/report/example_comparison.h"

namespace zerolab {
namespace {

using ::testing::HasSubstr;

class JUnit : public ::testing::Test {
 protected:
  void parse(const Comparison& comparison) {
    text_ = junit_xml(comparison);
    ASSERT_EQ(document_.Parse(text_.c_str()), tinyxml2::XML_SUCCESS) << document_.ErrorStr();
  }
  const tinyxml2::XMLElement& suite(int index) const {
    const tinyxml2::XMLElement* element =
        document_.FirstChildElement("testsuites")->FirstChildElement("testsuite");
    for (; index > 0; --index) element = element->NextSiblingElement("testsuite");
    return *element;
  }
  static const tinyxml2::XMLElement* test(const tinyxml2::XMLElement& suite,
                                          const std::string& name) {
    const tinyxml2::XMLElement* element = suite.FirstChildElement("testcase");
    while (element && name != element->Attribute("name")) {
      element = element->NextSiblingElement("testcase");
    }
    return element;
  }

  std::string text_;
  tinyxml2::XMLDocument document_;
};

TEST_F(JUnit, HasASuitePerStageAndACasePerVerdictAndCheck) {
  parse(example_comparison());
  EXPECT_STREQ(suite(0).Attribute("name"), "ddp");
  EXPECT_STREQ(suite(2).Attribute("name"), "zero3");
  EXPECT_EQ(suite(2).IntAttribute("tests"), 8);  // the verdict and seven checks
  EXPECT_EQ(suite(0).IntAttribute("tests"), 7);  // the reference has nothing to compare with
  EXPECT_NE(test(suite(2), "REF"), nullptr);
  EXPECT_EQ(suite(2).IntAttribute("failures"), 0);
}

TEST_F(JUnit, ADivergenceFailsWithItsEvidence) {
  parse(diverged_example());
  EXPECT_EQ(suite(2).IntAttribute("failures"), 3);  // the verdict, REF and INV
  EXPECT_NE(test(suite(2), "REF")->FirstChildElement("failure"), nullptr);
  const tinyxml2::XMLElement* failure = test(suite(2), "verdict")->FirstChildElement("failure");
  ASSERT_NE(failure, nullptr);
  EXPECT_THAT(failure->GetText(), HasSubstr("h.0.mlp.c_fc.weight"));
  EXPECT_THAT(failure->GetText(), HasSubstr("16,777,216 ULP"));
}

TEST_F(JUnit, AFindingFailsItsCheckOnly) {
  parse(diverged_example());
  EXPECT_NE(test(suite(2), "INV")->FirstChildElement("failure"), nullptr);
  EXPECT_EQ(test(suite(2), "NORM")->FirstChildElement("failure"), nullptr);
}

TEST_F(JUnit, AFindingOfACheckThatNobodyNamedIsNotLost) {
  Comparison comparison = diverged_example();
  comparison.config.checks = {"NORM"};
  parse(comparison);
  EXPECT_NE(test(suite(2), "INV"), nullptr);
}

TEST_F(JUnit, TheChecksOfARunThatBrokeOffHaveNotPassed) {
  Comparison comparison = diverged_example();
  for (RankResult& rank : comparison.stages[2].result.ranks) rank.steps.clear();
  parse(comparison);
  EXPECT_NE(test(suite(2), "INV")->FirstChildElement("failure"), nullptr);
  EXPECT_NE(test(suite(2), "NORM")->FirstChildElement("skipped"), nullptr);
  EXPECT_GT(suite(2).IntAttribute("skipped"), 0);
}

TEST_F(JUnit, AnyTextIsWellFormedXml) {
  Comparison comparison = diverged_example();
  comparison.stages[2].findings[0].message = "<&\"']]>\x01 in 'bucket' <3>";
  comparison.stages[2].result.name = "a<b>\"";
  parse(comparison);
  EXPECT_STREQ(suite(2).Attribute("name"), "a<b>\"");
  EXPECT_THAT(test(suite(2), "INV")->FirstChildElement("failure")->GetText(),
              HasSubstr("<&\"']]>? in 'bucket' <3>"));
}

}  // namespace
}  // namespace zerolab
