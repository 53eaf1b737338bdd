#include "experiments/report/json_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The message of the BadInput that `act` throws.
template <class Act>
std::string refusal(Act&& act) {
  try {
    act();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(JsonFields, NumbersThatJsonDoesNotKnowSurvive) {
  Json object = Json::object();
  const double infinity = std::numeric_limits<double>::infinity();
  put_numbers(object, "loss", {0.1, std::nan(""), -infinity, -0.0});
  put_number(object, "norm", infinity);

  const Json read = Json::parse(dumped(object));
  const std::vector<double> loss = get_numbers(JsonField(read, "f"), "loss");

  ASSERT_EQ(loss.size(), 4U);
  EXPECT_EQ(loss[0], 0.1);
  EXPECT_TRUE(std::isnan(loss[1]));
  EXPECT_EQ(loss[2], -infinity);
  EXPECT_TRUE(std::signbit(loss[3]));
  EXPECT_EQ(get_number(JsonField(read, "f"), "norm"), infinity);
}

TEST(JsonFields, NullWithoutExplanationIsNoNumber) {
  const Json object = Json::parse(R"({"loss": [1.0, null]})");
  EXPECT_THAT(refusal([&] { get_numbers(JsonField(object, "report.json"), "loss"); }),
              AllOf(HasSubstr("report.json"), HasSubstr("'loss[1]'"), HasSubstr("null")));
}

TEST(JsonFields, AMissingOptionalAndANanAreTwoThings) {
  Json object = Json::object();
  put_number(object, "absent", std::optional<double>());
  put_number(object, "nan", std::optional<double>(std::nan("")));
  EXPECT_FALSE(get_optional_number(JsonField(object, "f"), "absent"));
  EXPECT_TRUE(std::isnan(*get_optional_number(JsonField(object, "f"), "nan")));
}

TEST(JsonFields, FloatsAreWrittenWithTheFewestDigitsThatGiveThemBack) {
  EXPECT_EQ(shortest(0.9F), 0.9);
  for (float value = 1e-38F; value < 1e38F; value *= 1.7F) {
    EXPECT_EQ(static_cast<float>(shortest(value)), value);
  }
  EXPECT_TRUE(std::isnan(shortest(std::nanf(""))));
}

TEST(JsonFields, AMissingKeyIsNamedWithItsNearestNeighbour) {
  const Json object = Json::parse(R"({"stages": [{"verdikt": "equal"}]})");
  const JsonField stage = JsonField(object, "runs/1/report.json")["stages"][0];
  EXPECT_THAT(refusal([&] { stage["verdict"]; }),
              AllOf(HasSubstr("runs/1/report.json"), HasSubstr("'stages[0]' has no 'verdict'"),
                    HasSubstr("'verdikt'")));
}

TEST(JsonFields, WholeNumbersThatDoNotFitAreRefused) {
  const Json object = Json::parse(R"({"big": 18446744073709551615, "half": 0.5, "less": -1})");
  const JsonField field(object, "f");
  EXPECT_THAT(refusal([&] { field["big"].integer(); }), HasSubstr("18446744073709551615"));
  EXPECT_THAT(refusal([&] { field["half"].integer(); }), HasSubstr("whole number"));
  EXPECT_THAT(refusal([&] { field["less"].count(); }), HasSubstr("0 or larger"));
  EXPECT_EQ(field["big"].unsigned_integer(), 18446744073709551615U);
}

TEST(JsonFields, TextThatIsNotUtf8DoesNotSpoilAFile) {
  const Json object = {{"data", "caf\xe9.txt"}};
  EXPECT_NO_THROW(Json::parse(dumped(object)));
}

TEST(JsonFiles, AFileCutShortNamesTheByte) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "report.json").string();
  std::ofstream(path) << R"({"schema": "zerolab.re)";
  EXPECT_THAT(refusal([&] { read_json_file(path); }),
              AllOf(HasSubstr(path), HasSubstr("byte"), HasSubstr("cut short")));
}

TEST(JsonFiles, ANumberThatNoDoubleHoldsIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "report.json").string();
  std::ofstream(path) << R"({"loss": 1e999})";
  EXPECT_THAT(refusal([&] { read_json_file(path); }), HasSubstr(path));
}

TEST(JsonFiles, AMissingOrTooLargeFileIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "report.json").string();
  EXPECT_THAT(refusal([&] { read_json_file(path); }), HasSubstr(path));
  std::ofstream(path) << "[1, 2, 3]";
  EXPECT_THAT(refusal([&] { read_json_file(path, 4); }), HasSubstr("more than the 4"));
}

}  // namespace
}  // namespace zerolab
