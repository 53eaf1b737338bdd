/// \file
/// The command line of `zerolab`.
#pragma once

#include <ostream>

namespace zerolab {

/// Parses, runs, and prints errors as one sentence on `err`; of several processes under mpirun only
/// the first one speaks. \returns 0 agreement, 1 divergence, 2 bad input, 3 failure while running.
int run_cli(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace zerolab
