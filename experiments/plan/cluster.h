/// \file
/// The machines of a plan: devices by their data sheets, and how they are joined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zerolab {

/// One accelerator and its share of a node's network. Zero: not known.
struct DeviceSpec {
  std::string name;             ///< "h100"
  std::string product;          ///< "H100-80GB SXM"
  double peak_flops = 0;        ///< dense 16-bit, FLOP/s
  double product_flops = 0;     ///< what matrix products reach, FLOP/s
  double memory_bytes = 0;      ///< GB of 1e9 bytes, as sold
  double memory_bandwidth = 0;  ///< bytes/s
  double intra_bandwidth = 0;   ///< bytes/s to the node's other devices, one direction
  double inter_bandwidth = 0;   ///< bytes/s to other nodes, one direction, a device
  int ranks_per_node = 0;
};

/// v100-32, a100-80, h100, h200, b200, mi300x. Sources: stas00/ml-engineering (accelerators,
/// network, MAMF), torchtitan's peak table, vendors' data sheets.
const std::vector<DeviceSpec>& known_devices();

/// \throws BadInput naming the nearest known device.
const DeviceSpec& device_named(const std::string& name);

/// How long a message takes to start, seconds (Hockney's α).
struct Latencies {
  double intra = 1e-6;  ///< inside a node: NVLink
  double inter = 5e-6;  ///< between nodes: InfiniBand across racks
};

struct Cluster {
  DeviceSpec device;
  std::int64_t ranks = 1;
  std::int64_t ranks_per_node = 0;  ///< 0: all on one node
  Latencies latency;

  std::int64_t on_node() const {
    return ranks_per_node == 0 || ranks_per_node > ranks ? ranks : ranks_per_node;
  }
  std::int64_t nodes() const { return (ranks + on_node() - 1) / on_node(); }
  /// Whether times can be told: arithmetic, memory and links are known.
  bool timed() const;
};

/// \throws BadInput for a bandwidth, rate, size or latency that is negative or no number.
void validate(const Cluster& cluster);

}  // namespace zerolab
