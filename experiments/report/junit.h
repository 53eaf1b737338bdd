/// \file
/// junit.xml, the comparison for CI systems.
#pragma once

#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// One testsuite a stage; one testcase for its verdict and one for each check that ran, failed with
/// the evidence.
std::string junit_xml(const Comparison& comparison);

}  // namespace zerolab
