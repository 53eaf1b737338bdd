/// \file
/// What every benchmark's figures must be like, whatever the machine.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/bench/bench_report.h"

namespace zerolab::test {

inline void expect_spread(const nlohmann::json& spread, bool zero_is_fine) {
  ASSERT_TRUE(spread["median"].is_number()) << spread;  // NaN and infinities would be null
  const double median = spread["median"].get<double>();
  EXPECT_TRUE(std::isfinite(median) && (median > 0 || (zero_is_fine && median == 0))) << spread;
  EXPECT_LE(spread["smallest"].get<double>(), median) << spread;
  EXPECT_GE(spread["largest"].get<double>(), median) << spread;
  EXPECT_GT(spread["samples"].get<int>(), 0) << spread;
}

/// Goes through JSON, so that the file's structure is looked at as well.
inline void expect_sound(const std::vector<Figure>& figures, const std::string& topic) {
  ASSERT_FALSE(figures.empty());
  const auto report = nlohmann::json::parse(bench_json({"test", this_machine(), figures, {}}));
  ASSERT_EQ(report["schema"], "zerolab.bench/1");
  ASSERT_EQ(report["figures"].size(), figures.size());
  for (const auto& figure : report["figures"]) {
    EXPECT_EQ(figure["topic"], topic);
    for (const char* text : {"name", "meaning", "unit"}) {
      EXPECT_FALSE(figure[text].get<std::string>().empty()) << figure;
    }
    expect_spread(figure, false);
    for (const auto& part : figure["parts"]) expect_spread(part, true);
  }
}

}  // namespace zerolab::test
