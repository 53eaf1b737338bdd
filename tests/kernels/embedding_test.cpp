// Token plus position embedding.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::testing_kernels {
namespace {

constexpr std::int64_t kB = 3, kT = 5, kC = 67, kV = 11, kPositions = 8;

TEST(Embedding, AddsTheTokensRowAndThePositionsRow) {
  KernelBench bench;
  const auto ids = tokens(kB * kT, 1, kV);
  const auto wte = numbers(kV * kC, 2), wpe = numbers(kPositions * kC, 3);
  const Buffer t = bench.put(ids), e = bench.put(wte), p = bench.put(wpe),
               y = bench.empty(kB * kT * kC);

  bench.kernels().embedding(bench.stream(), t.view(), e.view(), p.view(), y.view(), kB, kT, kC);

  const std::vector<float> out = bench.get(y);
  for (std::int64_t i = 0; i < kB * kT; ++i) {
    for (std::int64_t c = 0; c < kC; ++c) {
      const auto token = static_cast<std::size_t>(ids[static_cast<std::size_t>(i)] * kC + c);
      const auto position = static_cast<std::size_t>(i % kT * kC + c);
      ASSERT_EQ(out[static_cast<std::size_t>(i * kC + c)], wte[token] + wpe[position]);
    }
  }
}

TEST(EmbeddingBackward, AddsEachRowsGradientInTokenOrder) {
  KernelBench bench;
  const auto ids = tokens(kB * kT, 1, 3);  // three tokens: rows meet often
  const auto dy = numbers(kB * kT * kC, 4);
  auto expected_e = numbers(kV * kC, 5), expected_p = numbers(kPositions * kC, 6);
  const Buffer t = bench.put(ids), d = bench.put(dy), de = bench.put(expected_e),
               dp = bench.put(expected_p);

  bench.kernels().embedding_backward(bench.stream(), t.view(), d.view(), de.view(), dp.view(), kB,
                                     kT, kC);

  for (std::int64_t i = 0; i < kB * kT; ++i) {
    for (std::int64_t c = 0; c < kC; ++c) {
      const float value = dy[static_cast<std::size_t>(i * kC + c)];
      expected_e[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)] * kC + c)] += value;
      expected_p[static_cast<std::size_t>(i % kT * kC + c)] += value;
    }
  }
  EXPECT_EQ(bench.get(de), expected_e);  // to the bit: the order is part of the contract
  EXPECT_EQ(bench.get(dp), expected_p);
}

TEST(Embedding, ATokenOutsideTheVocabularyIsAFailure) {
  for (const std::int32_t token : {-1, static_cast<std::int32_t>(kV)}) {
    KernelBench bench;
    const Buffer t = bench.put(std::vector<std::int32_t>{token}), e = bench.put(numbers(kV * 2, 1)),
                 p = bench.put(numbers(2, 2)), y = bench.empty(2);
    bench.kernels().embedding(bench.stream(), t.view(), e.view(), p.view(), y.view(), 1, 1, 2);
    EXPECT_THROW(bench.stream().synchronize(), Failure) << "token " << token;
  }
}

TEST(Embedding, MorePositionsThanThereAreIsRefused) {
  KernelBench bench;
  const Buffer t = bench.empty(3, DType::kInt32), e = bench.empty(4), p = bench.empty(4),
               y = bench.empty(6);
  EXPECT_THROW(
      bench.kernels().embedding(bench.stream(), t.view(), e.view(), p.view(), y.view(), 1, 3, 2),
      std::logic_error);
}

}  // namespace
}  // namespace zerolab::testing_kernels
