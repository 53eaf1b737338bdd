#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "experiments/cli/run_cli.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::HasSubstr;

struct Outcome {
  int code;
  std::string out, err;
};

Outcome zerolab_bench(std::vector<std::string> options) {
  std::vector<const char*> arguments = {"zerolab", "bench"};
  for (const std::string& option : options) arguments.push_back(option.c_str());
  std::ostringstream out, err;
  const int code = run_cli(static_cast<int>(arguments.size()), arguments.data(), out, err);
  return {code, out.str(), err.str()};
}

TEST(BenchCommand, WritesTheFiguresAsTableJsonAndPage) {
  const TemporaryDirectory directory;
  const std::string json = (directory / "bench.json").string();
  const std::string page = (directory / "page.md").string();
  std::ofstream(page) << "<!-- results -->\n<!-- end -->\n";

  const Outcome outcome = zerolab_bench(
      {"collectives", "--repeats", "1", "--quiet", "--json", json, "--markdown", page});

  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("collectives: "));
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(json))["command"],
            "zerolab bench collectives --repeats 1");
  std::stringstream text;
  text << std::ifstream(page).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("Measured with `zerolab bench collectives --repeats 1`"));
}

TEST(BenchCommand, NamesTheNearestTopic) {
  const Outcome outcome = zerolab_bench({"step"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("steps"));
}

TEST(BenchCommand, TakesTheNameOfACommandAsATopic) {
  const Outcome outcome = zerolab_bench({"compare", "--repeats", "-1"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--repeats is -1"));
}

TEST(BenchCommand, RefusesAShapeThatDoesNotExist) {
  EXPECT_EQ(zerolab_bench({"steps", "--shape", "XL"}).code, 2);
}

TEST(BenchCommand, RefusesNegativeRepeats) {
  EXPECT_EQ(zerolab_bench({"steps", "--repeats", "-1"}).code, 2);
}

TEST(BenchCommand, RefusesAPageWithoutAPlaceForResults) {
  const Outcome outcome = zerolab_bench({"steps", "--markdown", "/no/such/page.md"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/no/such/page.md"));
}

TEST(BenchCommand, MeasuresOnlyCollectivesBetweenProcesses) {
  EXPECT_EQ(zerolab_bench({"steps", "--comm", "mpi"}).code, 2);
}

}  // namespace
}  // namespace zerolab
