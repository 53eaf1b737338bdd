/// \file
/// What the contract suite runs on: ranks of a world, each with a guarded, order-checked device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stages/comm/call_header.h"
#include "stages/comm/volume_formula.h"
#include "stages/comm/world.h"
#include "stages/core/convert.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/device/order_checker.h"

namespace zerolab {

/// Given by the binary: which worlds there are, and how one is got.
std::vector<int> contract_world_sizes();
std::shared_ptr<World> contract_world(int ranks);
WireKind contract_wire();

inline constexpr DType kAllDTypes[] = {DType::kFloat32, DType::kBFloat16, DType::kFloat16,
                                       DType::kFloat64, DType::kInt32,    DType::kInt64,
                                       DType::kUInt64,  DType::kInt8,     DType::kByte};
inline constexpr DType kSummedDTypes[] = {DType::kFloat32, DType::kBFloat16, DType::kFloat16,
                                          DType::kFloat64, DType::kInt32,    DType::kInt64,
                                          DType::kUInt64};

/// One rank while a test runs.
struct Rank {
  RankContext& context;
  Device& device;
  Stream& stream;
  Communicator& comm;

  int rank() const { return comm.rank(); }
  int size() const { return comm.world_size(); }
  Buffer buffer(DType dtype, std::int64_t count) {
    return device.allocate(dtype, count, Category::kWorkspace, "test", stream);
  }
  /// Runs on the stream with access to the view.
  void on_stream(View view, const std::function<void()>& work);
  /// element i = value(i), small integers.
  void fill(View view, const std::function<int(std::int64_t)>& value);
  /// The elements as integers; waits.
  std::vector<std::int64_t> values(View view);
  /// The elements' bits; waits.
  std::vector<std::byte> bits(View view);
};

/// Runs the test on every rank; an unordered access fails the test.
void on_ranks(World& world, const CommSettings& settings, const std::function<void(Rank&)>& test);

/// What rank `rank` contributes at element i: differs between ranks and elements, and all sums of
/// up to 8 ranks are integers below 256, exact in every dtype that has sums.
inline int contribution(int rank, std::int64_t i) {
  return static_cast<int>((i * 7 + rank * 5 + i / 13) % 19) + rank % 3 + 1;
}

struct ContractCase {
  int world = 1;
  Reduction reduction = Reduction::kOrdered;
};
std::vector<ContractCase> contract_cases();
/// Without the worlds of one rank.
std::vector<ContractCase> contract_cases_with_peers();
std::string name_of_case(const testing::TestParamInfo<ContractCase>& info);

class CommunicatorContract : public testing::TestWithParam<ContractCase> {
 protected:
  void SetUp() override;
  /// Small message limit, short watchdog.
  CommSettings settings() const;
  void on_ranks(const std::function<void(Rank&)>& test) {
    zerolab::on_ranks(*world_, settings(), test);
  }
  World& world() { return *world_; }
  int size() const { return world_->world_size(); }

  std::shared_ptr<World> world_;
};

}  // namespace zerolab
