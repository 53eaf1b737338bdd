/// \file
/// The CPU back end of the kernels: Eigen for the matrix products, plain loops for the rest.
#pragma once

#include <memory>

#include "stages/kernels/kernels.h"

namespace zerolab {

/// `threads` >= 1 workers share out the tiles of kernels launched on the device's stream 0
/// (compute); kernels on other streams run on that stream's own worker alone. The result has the
/// same bits for any number of threads. One per rank: its helpers serve one compute stream at a
/// time.
///
/// Settings of the whole process, made by the first call: the cache sizes that Eigen's blocking
/// follows, and glibc's thresholds for keeping freed memory (`prepare_gemm` in gemm.h says why).
///
/// \throws std::logic_error for fewer than one thread.
std::unique_ptr<Kernels> make_cpu_kernels(int threads);

}  // namespace zerolab
