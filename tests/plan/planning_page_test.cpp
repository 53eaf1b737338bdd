// docs/planning.md shows what the commands that it names print.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/experiments/run_command.h"

namespace zerolab {
namespace {

TEST(PlanningPage, ShowsWhatItsCommandsPrint) {
  std::ifstream in(ZEROLAB_SOURCE_DIR "/docs/planning.md");
  std::stringstream file;
  file << in.rdbuf();
  const std::string page = file.str();
  const std::string mark = "<!-- plan: ", fence = " -->\n```text\n";
  std::size_t shown = 0;
  for (std::size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
    const std::size_t begin = page.find(fence, at);
    const std::string options = page.substr(at + mark.size(), begin - at - mark.size());
    const std::size_t text = begin + fence.size();
    const auto outcome = test::run_command("plan " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(page.substr(text, page.find("```", text) - text), outcome.out) << options;
    ++shown;
  }
  EXPECT_GE(shown, 1U);
}

}  // namespace
}  // namespace zerolab
