#include "experiments/plan/cluster.h"

#include <cmath>

#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;

/// What products reach of the peak where nobody has published a measurement.
constexpr double kTypicalShare = 0.8;

void require_number(const char* option, double value) {
  if (std::isfinite(value) && value >= 0) return;
  bad_input("[plan] {} is {}; give a number above 0, or leave the option out", option, value);
}

}  // namespace

const std::vector<DeviceSpec>& known_devices() {
  static const std::vector<DeviceSpec> kDevices = {
      {"v100-32", "V100-32GB SXM3", 125 * kTera, kTypicalShare * 125 * kTera, 32 * kGiga,
       0.9 * kTera, 150 * kGiga, 6.25 * kGiga, 16},
      {"a100-80", "A100-80GB SXM", 312 * kTera, 271.2 * kTera, 80 * kGiga, 2.0 * kTera, 300 * kGiga,
       25 * kGiga, 8},
      {"h100", "H100-80GB SXM", 989 * kTera, 794.5 * kTera, 80 * kGiga, 3.35 * kTera, 450 * kGiga,
       50 * kGiga, 8},
      {"h200", "H200-141GB SXM", 989 * kTera, 794.5 * kTera, 141 * kGiga, 4.8 * kTera, 450 * kGiga,
       50 * kGiga, 8},
      {"b200", "B200-180GB SXM", 2250 * kTera, 1745 * kTera, 180 * kGiga, 8.0 * kTera, 900 * kGiga,
       50 * kGiga, 8},
      {"mi300x", "MI300X", 1307.4 * kTera, 668.4 * kTera, 192 * kGiga, 5.3 * kTera, 448 * kGiga,
       50 * kGiga, 8},
  };
  return kDevices;
}

const DeviceSpec& device_named(const std::string& name) {
  std::vector<std::string> names;
  for (const DeviceSpec& device : known_devices()) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  bad_input(
      "[plan] there is no device '{}'; did you mean '{}'? (known: {}; others by --memory-gb, "
      "--tflops, --memory-bandwidth, --intra-bandwidth and --inter-bandwidth)",
      name, nearest(name, names), joined(names));
}

bool Cluster::timed() const {
  const bool alone = ranks == 1;
  const bool inside = alone || on_node() == 1 || device.intra_bandwidth > 0;
  const bool across = nodes() == 1 || device.inter_bandwidth > 0;
  return device.product_flops > 0 && device.memory_bandwidth > 0 && inside && across;
}

void validate(const Cluster& cluster) {
  require_number("--memory-gb", cluster.device.memory_bytes);
  require_number("--tflops", cluster.device.peak_flops);
  require_number("--product-tflops", cluster.device.product_flops);
  require_number("--memory-bandwidth", cluster.device.memory_bandwidth);
  require_number("--intra-bandwidth", cluster.device.intra_bandwidth);
  require_number("--inter-bandwidth", cluster.device.inter_bandwidth);
  require_number("--intra-latency", cluster.latency.intra);
  require_number("--inter-latency", cluster.latency.inter);
}

}  // namespace zerolab
