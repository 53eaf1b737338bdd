#include "tests/comm/contract/ranks.h"

#include <bit>
#include <cstring>

namespace zerolab {
namespace {

template <class F>
void with_element(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat32:
      return f(float{});
    case DType::kBFloat16:
      return f(BFloat16{});
    case DType::kFloat16:
      return f(Float16{});
    case DType::kFloat64:
      return f(double{});
    case DType::kInt32:
      return f(std::int32_t{});
    case DType::kInt64:
      return f(std::int64_t{});
    case DType::kUInt64:
      return f(std::uint64_t{});
    case DType::kInt8:
      return f(std::int8_t{});
    case DType::kByte:
      return f(std::byte{});
  }
}

template <class T>
T from_int(int value) {
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>) {
    return from_float<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
std::int64_t to_int(T value) {
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>) {
    return static_cast<std::int64_t>(to_float(value));
  } else {
    return static_cast<std::int64_t>(value);
  }
}

}  // namespace

void Rank::on_stream(View view, const std::function<void()>& work) {
  stream.launch({.name = "test", .detail = "", .reads = {}, .writes = {view}, .work = work});
}

void Rank::fill(View view, const std::function<int(std::int64_t)>& value) {
  on_stream(view, [view, value] {
    with_element(view.dtype, [&](auto element) {
      using T = decltype(element);
      auto* data = reinterpret_cast<T*>(view.data);
      for (std::int64_t i = 0; i < view.count; ++i) data[i] = from_int<T>(value(i));
    });
  });
}

std::vector<std::int64_t> Rank::values(View view) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(view.count));
  on_stream(view, [view, &result] {
    with_element(view.dtype, [&](auto element) {
      const auto* data = reinterpret_cast<const decltype(element)*>(view.data);
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = to_int(data[i]);
    });
  });
  stream.synchronize();
  return result;
}

std::vector<std::byte> Rank::bits(View view) {
  std::vector<std::byte> result(static_cast<std::size_t>(view.bytes()));
  on_stream(view, [view, &result] {
    if (!result.empty()) std::memcpy(result.data(), view.data, result.size());
  });
  stream.synchronize();
  return result;
}

void on_ranks(World& world, const CommSettings& settings, const std::function<void(Rank&)>& test) {
  world.run([&](RankContext& context) {
    OrderChecker order;
    const auto device = make_cpu_device({.observers = {&order}, .poison = false, .guarded = true});
    const auto stream = device->create_stream("communication");
    const auto comm = context.create_communicator(*device, *stream, settings);
    Rank rank{context, *device, *stream, *comm};
    test(rank);
    stream->synchronize();
    order.throw_if_any();
  });
}

std::vector<ContractCase> contract_cases() {
  std::vector<ContractCase> cases;
  for (const int world : contract_world_sizes()) {
    for (const Reduction reduction :
         {Reduction::kOrdered, Reduction::kTree, Reduction::kRing, Reduction::kNative}) {
      if (reduction == Reduction::kTree && !std::has_single_bit(static_cast<unsigned>(world))) {
        continue;
      }
      if (reduction == Reduction::kNative && contract_wire() == WireKind::kPeerView) continue;
      cases.push_back({world, reduction});
    }
  }
  return cases;
}

std::vector<ContractCase> contract_cases_with_peers() {
  auto cases = contract_cases();
  std::erase_if(cases, [](const ContractCase& c) { return c.world == 1; });
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<ContractCase>& info) {
  return fmt::format("{}_ranks_{}", info.param.world, name_of(info.param.reduction));
}

void CommunicatorContract::SetUp() { world_ = contract_world(GetParam().world); }

CommSettings CommunicatorContract::settings() const {
  return {.reduction = GetParam().reduction,
          .ranks_per_node = 0,
          .checked = true,
          .timeout_seconds = 60,
          .max_message_count = 1000};
}

}  // namespace zerolab
