// Moving, converting and adding elements.
#include <gtest/gtest.h>

#include "stages/core/convert.h"
#include "tests/kernels/kernel_bench.h"

namespace zerolab::testing_kernels {
namespace {

constexpr std::int64_t kCount = 70'001;  // more than one piece of work, and odd

TEST(Elementwise, ZeroClearsJustItsView) {
  KernelBench bench;
  const Buffer x = bench.put(std::vector<std::int8_t>{1, 2, 3, 4, 5});

  bench.kernels().zero(bench.stream(), x.slice(1, 3));

  EXPECT_EQ(bench.get<std::int8_t>(x), (std::vector<std::int8_t>{1, 0, 0, 0, 5}));
}

TEST(Elementwise, CopyMovesEveryByte) {
  KernelBench bench;
  const auto values = numbers(kCount, 1);
  const Buffer x = bench.put(values), y = bench.empty(kCount);

  bench.kernels().copy(bench.stream(), x.view(), y.view());

  EXPECT_EQ(bench.get(y), values);
}

TEST(Elementwise, CopyBetweenTypesIsRefused) {
  KernelBench bench;
  const Buffer x = bench.empty(2), y = bench.empty(2, DType::kBFloat16);
  EXPECT_THROW(bench.kernels().copy(bench.stream(), x.view(), y.view()), std::logic_error);
}

TEST(Elementwise, CastRoundsEveryElementOnce) {
  KernelBench bench;
  const auto values = numbers(kCount, 1, 5.0F);
  const Buffer x = bench.put(values), bf16 = bench.empty(kCount, DType::kBFloat16),
               fp16 = bench.empty(kCount, DType::kFloat16),
               fp16_from_bf16 = bench.empty(kCount, DType::kFloat16), back = bench.empty(kCount);

  bench.kernels().cast(bench.stream(), x.view(), bf16.view());
  bench.kernels().cast(bench.stream(), x.view(), fp16.view());
  bench.kernels().cast(bench.stream(), bf16.view(), fp16_from_bf16.view());
  bench.kernels().cast(bench.stream(), fp16.view(), back.view());

  const auto in_bf16 = bench.get<BFloat16>(bf16.view());
  const auto in_fp16 = bench.get<Float16>(fp16.view());
  const auto twice = bench.get<Float16>(fp16_from_bf16.view());
  const auto widened_again = bench.get(back);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(in_bf16[i].bits, to_bfloat16(values[i]).bits);
    ASSERT_EQ(in_fp16[i].bits, to_float16(values[i]).bits);
    ASSERT_EQ(twice[i].bits, to_float16(to_float(in_bf16[i])).bits);
    ASSERT_EQ(widened_again[i], to_float(in_fp16[i]));
  }
}

TEST(Elementwise, CastBetweenSingleAndDoublePrecision) {
  KernelBench bench;
  const std::vector<double> values{1.0 + 0x1p-30, -2.5, 1e300};
  const Buffer x = bench.put(values), single = bench.empty(3),
               back = bench.empty(3, DType::kFloat64);

  bench.kernels().cast(bench.stream(), x.view(), single.view());
  bench.kernels().cast(bench.stream(), single.view(), back.view());

  EXPECT_EQ(bench.get(single), (std::vector<float>{1.0F, -2.5F, INFINITY}));
  EXPECT_EQ(bench.get<double>(back), (std::vector<double>{1.0, -2.5, INFINITY}));
}

TEST(Elementwise, AddAccumulatesSixteenBitTermsInFp32) {
  KernelBench bench;
  const auto values = numbers(kCount, 1), start = numbers(kCount, 2);
  const Buffer x = bench.put(values), half = bench.empty(kCount, DType::kFloat16),
               sum = bench.put(start);

  bench.kernels().cast(bench.stream(), x.view(), half.view());
  bench.kernels().add(bench.stream(), half.view(), sum.view());
  bench.kernels().add(bench.stream(), x.view(), sum.view());

  const auto out = bench.get(sum);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], (start[i] + to_float(to_float16(values[i]))) + values[i]);
  }
}

TEST(Elementwise, FillWritesTheRoundedValue) {
  KernelBench bench;
  const Buffer fp32 = bench.empty(kCount), bf16 = bench.empty(3, DType::kBFloat16);

  bench.kernels().fill(bench.stream(), fp32.view(), 0.1F);
  bench.kernels().fill(bench.stream(), bf16.view(), 0.1F);

  EXPECT_EQ(bench.get(fp32), std::vector<float>(kCount, 0.1F));
  for (const BFloat16 value : bench.get<BFloat16>(bf16.view())) {
    EXPECT_EQ(value.bits, to_bfloat16(0.1F).bits);
  }
}

TEST(Elementwise, EmptyViewsAreNothingToDo) {
  KernelBench bench;
  const Buffer none = bench.empty(0);

  bench.kernels().zero(bench.stream(), none.view());
  bench.kernels().copy(bench.stream(), none.view(), none.view());
  bench.kernels().add(bench.stream(), none.view(), none.view());
  bench.kernels().fill(bench.stream(), none.view(), 1.0F);

  EXPECT_NO_THROW(bench.stream().synchronize());
}

TEST(Elementwise, AnUploadMayChangeItsSourceAtOnce) {
  KernelBench bench;
  std::vector<float> source(1000, 1.0F);
  const Buffer x = bench.put(source);
  std::fill(source.begin(), source.end(), 2.0F);

  EXPECT_EQ(bench.get(x), std::vector<float>(1000, 1.0F));
}

}  // namespace
}  // namespace zerolab::testing_kernels
