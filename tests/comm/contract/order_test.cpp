// The order in which a reduction adds, told by values whose sum depends on it.
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "stages/comm/algorithms.h"
#include "tests/comm/contract/ranks.h"

namespace zerolab {
namespace {

const CallTag kTag{"order", Traffic::kTraining, ""};

// Magnitudes spread over 2^±12, so that nearly every order gives other bits.
float term(int rank, std::int64_t i) {
  const std::uint32_t mixed = (static_cast<std::uint32_t>(i) * 2654435761U) ^
                              (static_cast<std::uint32_t>(rank) * 40503U * 65537U);
  const float fraction = 1.0F + static_cast<float>(mixed % 8191U) / 8191.0F;
  const int exponent = static_cast<int>((mixed >> 13U) % 25U) - 12;
  return ((mixed >> 20U) % 2U == 0 ? 1.0F : -1.0F) * std::ldexp(fraction, exponent);
}

template <class T>
T rounded(float value) {
  return from_float<T>(value);
}

float tree_sum(std::span<const float> terms) {
  if (terms.size() == 1) return terms[0];
  const std::size_t half = terms.size() / 2;
  return tree_sum(terms.first(half)) + tree_sum(terms.subspan(half));
}

// The sum of element i as the reduction's definition has it.
template <class T>
T expected(Reduction reduction, int size, std::int64_t count, std::int64_t i) {
  std::array<float, 8> storage{};
  const std::span<float> terms(storage.data(), static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    terms[static_cast<std::size_t>(rank)] = to_float(rounded<T>(term(rank, i)));
  }
  if (reduction == Reduction::kTree) return rounded<T>(tree_sum(terms));
  if (reduction == Reduction::kRing) {
    int piece = 0;
    while (!piece_of(count, size, piece).contains(i)) ++piece;
    float sum = terms[static_cast<std::size_t>((piece + 1) % size)];
    for (int step = 2; step <= size; ++step) {  // rounded on every wire
      sum = to_float(rounded<T>(sum + terms[static_cast<std::size_t>((piece + step) % size)]));
    }
    return rounded<T>(sum);
  }
  float sum = terms[0];
  for (std::size_t rank = 1; rank < terms.size(); ++rank) sum += terms[rank];
  return rounded<T>(sum);
}

class OrderContract : public CommunicatorContract {
 protected:
  void SetUp() override {
    CommunicatorContract::SetUp();
    if (GetParam().reduction == Reduction::kNative) GTEST_SKIP() << "native promises no order";
  }

  template <class T>
  void expect_order_of_all_reduce(std::int64_t count) {
    on_ranks([&](Rank& rank) {
      const Buffer array = rank.buffer(dtype_of<T>, count);
      rank.on_stream(array.view(), [&] {
        for (std::int64_t i = 0; i < count; ++i) {
          array.view().as<T>()[i] = rounded<T>(term(rank.rank(), i));
        }
      });
      rank.comm.all_reduce(array.view(), kTag);
      std::vector<T> sums(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) {
        sums[static_cast<std::size_t>(i)] =
            expected<T>(GetParam().reduction, rank.size(), count, i);
      }
      const auto bits = rank.bits(array.view());
      EXPECT_EQ(std::memcmp(bits.data(), sums.data(), bits.size()), 0) << "on rank " << rank.rank();
    });
  }
};

TEST_P(OrderContract, Fp32SumsHaveTheBitsOfTheReductionsOrder) {
  expect_order_of_all_reduce<float>(3001);
}

TEST_P(OrderContract, SixteenBitSumsAreAddedInFp32) {
  expect_order_of_all_reduce<BFloat16>(3001);
  expect_order_of_all_reduce<Float16>(3001);
}

TEST_P(OrderContract, LongArraysHaveTheBitsOfTheReductionsOrder) {
  expect_order_of_all_reduce<float>(size() * 65536 + 77);  // two message segments a piece
}

TEST_P(OrderContract, AllReduceEqualsReduceScatterPlusAllGather) {
  on_ranks([&](Rank& rank) {
    const std::int64_t slice = 1311;
    const Buffer whole = rank.buffer(DType::kFloat32, slice * rank.size());
    const Buffer parts = rank.buffer(DType::kFloat32, slice * rank.size());
    for (const View view : {whole.view(), parts.view()}) {
      rank.on_stream(view, [&, view] {
        for (std::int64_t i = 0; i < view.count; ++i) view.as<float>()[i] = term(rank.rank(), i);
      });
    }
    rank.comm.all_reduce(whole.view(), kTag);
    const View own = parts.slice(rank.rank() * slice, slice);
    rank.comm.reduce_scatter(parts.view(), own, kTag);
    rank.comm.all_gather(own, parts.view(), kTag);
    EXPECT_EQ(rank.bits(whole.view()), rank.bits(parts.view())) << "on rank " << rank.rank();
  });
}

TEST_P(OrderContract, MinusZeroStaysMinusZero) {
  on_ranks([&](Rank& rank) {
    const Buffer array = rank.buffer(DType::kFloat32, 40);
    rank.on_stream(array.view(), [&] {
      for (std::int64_t i = 0; i < 40; ++i) array.view().as<float>()[i] = -0.0F;
    });
    rank.comm.all_reduce(array.view(), kTag);
    const auto bits = rank.bits(array.view());
    for (std::size_t i = 0; i < 40; ++i) {
      float value = 0;
      std::memcpy(&value, bits.data() + i * sizeof value, sizeof value);
      EXPECT_TRUE(std::signbit(value)) << "element " << i << ": a sum started from 0 + x";
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, OrderContract, testing::ValuesIn(contract_cases()),
                         name_of_case);

}  // namespace
}  // namespace zerolab
