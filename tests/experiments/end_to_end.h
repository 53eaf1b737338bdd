/// \file
/// Whole commands on the micro model, and what they report.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "experiments/report/report_json.h"
#include "tests/experiments/run_command.h"

namespace zerolab::test {

class EndToEnd : public testing::Test {
 protected:
  /// Runs with gpt-micro and without progress; the report is in `out`.
  CommandOutcome run(const std::string& line, const std::string& out) {
    return run_command(line + " --model gpt-micro --micro-batch 2 --quiet --plots off --out " +
                       (scratch_ / out));
  }
  Comparison report(const std::string& out) const {
    return read_report(scratch_ / out + "/report.json");
  }
  ScratchDirectory scratch_{"end-to-end"};
};

}  // namespace zerolab::test
