// Operations on 16-bit operands: computed in fp32, rounded once.
#include "stages/kernels/widening_kernels.h"

#include <gtest/gtest.h>

#include "stages/core/convert.h"
#include "tests/kernels/kernel_bench.h"

namespace zerolab {
namespace {

using testing_kernels::KernelBench;
using testing_kernels::numbers;

std::vector<float> rounded(std::vector<float> values) {
  for (float& value : values) value = to_float(to_bfloat16(value));
  return values;
}

/// The values in bf16 on the device.
Buffer put_narrow(KernelBench& b, const std::vector<float>& values) {
  Buffer buffer = b.empty(static_cast<std::int64_t>(values.size()), DType::kBFloat16);
  b.kernels().upload_fp32(b.stream(), values.data(), buffer.view());
  return buffer;
}

std::vector<float> get_narrow(KernelBench& b, const Buffer& buffer) {
  std::vector<float> values(static_cast<std::size_t>(buffer.count()));
  b.kernels().download_fp32(b.stream(), buffer.view(), values.data());
  b.stream().synchronize();
  return values;
}

constexpr MatrixShape kShape{5, 7, 3};
constexpr std::int64_t kScratch = 48 + 32 + 16 + 16;  // 35, 21, 3 and 15 elements, padded to 16s

TEST(WideningKernels, GiveTheFp32ResultOfTheWidenedOperandsRoundedOnce) {
  KernelBench b;
  const auto x = rounded(numbers(35, 1)), w = rounded(numbers(21, 2)),
             bias = rounded(numbers(3, 3));
  const Buffer x32 = b.put(x), w32 = b.put(w), b32 = b.put(bias), y32 = b.empty(15);
  b.kernels().linear(b.stream(), x32.view(), w32.view(), b32.view(), y32.view(), kShape);
  const Buffer x16 = put_narrow(b, x), w16 = put_narrow(b, w), b16 = put_narrow(b, bias),
               y16 = b.empty(15, DType::kBFloat16);
  WideningKernels widening(b.kernels(), b.device(), b.stream(), kScratch);

  widening.linear(b.stream(), x16.view(), w16.view(), b16.view(), y16.view(), kShape);

  EXPECT_EQ(get_narrow(b, y16), rounded(b.get(y32)));
  EXPECT_EQ(widening.used(), kScratch);
}

TEST(WideningKernels, AddToAnFp32GradientWithoutRounding) {
  KernelBench b;
  const auto x = rounded(numbers(35, 1)), dy = rounded(numbers(15, 2));
  const std::vector<float> before = numbers(21, 5);
  const Buffer x32 = b.put(x), dy32 = b.put(dy), dw = b.put(before), expected = b.put(before);
  b.kernels().linear_backward_weight(b.stream(), x32.view(), dy32.view(), expected.view(), {},
                                     kShape);
  const Buffer x16 = put_narrow(b, x), dy16 = put_narrow(b, dy);
  WideningKernels widening(b.kernels(), b.device(), b.stream(), kScratch);

  widening.linear_backward_weight(b.stream(), x16.view(), dy16.view(), dw.view(), {}, kShape);

  EXPECT_EQ(b.get(dw), b.get(expected));
}

TEST(WideningKernels, RefuseAnOperationThatIsLargerThanTheScratch) {
  KernelBench b;
  const Buffer x = put_narrow(b, numbers(35, 1)), w = put_narrow(b, numbers(21, 2)),
               y = b.empty(15, DType::kBFloat16);
  WideningKernels widening(b.kernels(), b.device(), b.stream(), 32);
  EXPECT_THROW(widening.linear(b.stream(), x.view(), w.view(), {}, y.view(), kShape),
               std::logic_error);
}

}  // namespace
}  // namespace zerolab
