#include "experiments/plan/collective_time.h"

#include <algorithm>
#include <cmath>

namespace zerolab {
namespace {

/// Steps and bytes of one ring over `ranks`, one pass.
double ring(double ranks, double bytes, double alpha, double bandwidth) {
  if (ranks <= 1) return 0;
  return (ranks - 1) * alpha + (ranks - 1) / ranks * bytes / bandwidth;
}

double flat_ring(const Cluster& cluster, double bytes) {
  const auto n = static_cast<double>(cluster.ranks);
  const auto G = static_cast<double>(cluster.on_node());
  const DeviceSpec& device = cluster.device;
  if (cluster.nodes() == 1) return ring(n, bytes, cluster.latency.intra, device.intra_bandwidth);
  const double network = G * device.inter_bandwidth;
  const double bandwidth = G > 1 ? std::min(device.intra_bandwidth, network) : network;
  return ring(n, bytes, cluster.latency.inter, bandwidth);
}

double two_levels(const Cluster& cluster, double bytes, bool doubling) {
  const auto G = static_cast<double>(cluster.on_node());
  const auto M = static_cast<double>(cluster.nodes());
  const DeviceSpec& device = cluster.device;
  const double inside = ring(G, bytes, cluster.latency.intra, device.intra_bandwidth);
  if (M <= 1) return inside;
  const double steps = doubling ? std::ceil(std::log2(M)) : M - 1;
  return inside + steps * cluster.latency.inter +
         (M - 1) / M * (bytes / G) / device.inter_bandwidth;
}

double one_pass(const Cluster& cluster, CollectiveAlgorithm algorithm, double bytes) {
  switch (algorithm) {
    case CollectiveAlgorithm::kRing:
      return flat_ring(cluster, bytes);
    case CollectiveAlgorithm::kHierarchical:
      return two_levels(cluster, bytes, false);
    case CollectiveAlgorithm::kDoubling:
      return two_levels(cluster, bytes, true);
    case CollectiveAlgorithm::kFastest:
      break;
  }
  return std::min(flat_ring(cluster, bytes), two_levels(cluster, bytes, true));
}

double passes(CollectiveOp op) { return op == CollectiveOp::kAllReduce ? 2 : 1; }

}  // namespace

std::string_view name_of(CollectiveAlgorithm algorithm) {
  constexpr std::string_view kNames[] = {"fastest", "ring", "hierarchical", "doubling"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

double collective_seconds(const Cluster& cluster, CollectiveAlgorithm algorithm, CollectiveOp op,
                          double bytes) {
  if (cluster.ranks == 1) return 0;
  return passes(op) * one_pass(cluster, algorithm, bytes);
}

double messages_seconds(const Cluster& cluster, double messages, double bytes) {
  if (cluster.nodes() == 1) {
    return messages * cluster.latency.intra + bytes / cluster.device.intra_bandwidth;
  }
  return messages * cluster.latency.inter + bytes / cluster.device.inter_bandwidth;
}

double bus_bandwidth(CollectiveOp op, double ranks, double bytes, double seconds) {
  return passes(op) * (ranks - 1) / ranks * bytes / seconds;
}

}  // namespace zerolab
