// Sums over micro-batches, bit for bit: running order and the binary counter of a fixed tree.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "stages/parallel/gradient_accumulator.h"

namespace zerolab {
namespace {

using Values = std::vector<float>;

// Terms of such different sizes that every order of adding them rounds differently.
Values term(int index, std::int64_t size) {
  Values values;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto mixed = static_cast<std::uint32_t>(index * 40503 + i * 2654435761 + 12345);
    const float mantissa = 1.0F + static_cast<float>(mixed % 8191) / 8191.0F;
    values.push_back(std::ldexp(mixed & 1U ? mantissa : -mantissa, index * 5 % 23));
  }
  return values;
}

Values sum(const Values& a, const Values& b) {
  Values result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] + b[i];
  return result;
}

Values running_sum(const std::vector<Values>& terms) {
  Values total = terms.front();
  for (std::size_t k = 1; k < terms.size(); ++k) total = sum(total, terms[k]);
  return total;
}

// The left subtree takes the largest power of two below the count, the right one the rest: for a
// power of two the balanced tree, otherwise what remains folds from smallest to largest.
Values tree_sum(std::span<const Values> terms) {
  if (terms.size() == 1) return terms.front();
  const std::size_t left = std::bit_ceil(terms.size()) / 2;
  return sum(tree_sum(terms.first(left)), tree_sum(terms.subspan(left)));
}

void expect_same_bits(const Values& expected, const Values& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(expected[i]), std::bit_cast<std::uint32_t>(actual[i]))
        << "element " << i << ": " << expected[i] << " and " << actual[i];
  }
}

class AccumulatorTest : public testing::Test {
 protected:
  Buffer upload(const Values& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    Buffer buffer =
        device_->allocate(DType::kFloat32, count, Category::kGradients, "term", *stream_);
    kernels_->upload(*stream_, values.data(), count * 4, buffer.view());
    return buffer;
  }

  Values download(View view) {
    Values values(static_cast<std::size_t>(view.count));
    kernels_->download(*stream_, view, values.data());
    stream_->synchronize();
    return values;
  }

  GradientAccumulator accumulator(AccumulationShape shape, int micro_batches, std::int64_t size,
                                  DType dtype = DType::kFloat32) {
    return {*device_, *stream_, *kernels_, shape, dtype, micro_batches, size};
  }

  // The sum of the terms, each handed over whole.
  Values accumulate(AccumulationShape shape, const std::vector<Values>& terms) {
    const auto size = static_cast<std::int64_t>(terms.front().size());
    GradientAccumulator sums = accumulator(shape, static_cast<int>(terms.size()), size);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      sums.add(*stream_, static_cast<int>(k), upload(terms[k]).view(), {0, size});
    }
    return download(sums.total());
  }

  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Stream> stream_ = device_->create_stream("compute");
  std::unique_ptr<Kernels> kernels_ = make_cpu_kernels(1);
};

std::vector<Values> terms(int count, std::int64_t size = 37) {
  std::vector<Values> all;
  for (int k = 0; k < count; ++k) all.push_back(term(k, size));
  return all;
}

TEST_F(AccumulatorTest, TermsAreSuchThatTheOrderShows) {
  const std::vector<Values> eight = terms(8);

  EXPECT_NE(running_sum(eight), tree_sum(eight));
}

TEST_F(AccumulatorTest, RunningAddsInTheOrderOfTheMicroBatches) {
  for (const int count : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(count);
    expect_same_bits(running_sum(terms(count)),
                     accumulate(AccumulationShape::kRunning, terms(count)));
  }
}

TEST_F(AccumulatorTest, TreeAddsEqualSubtreesAndFoldsTheRestFromSmallestToLargest) {
  for (int count = 1; count <= 16; ++count) {
    SCOPED_TRACE(count);
    expect_same_bits(tree_sum(terms(count)), accumulate(AccumulationShape::kTree, terms(count)));
  }
}

// Global micro-batch m·N + r: N ranks are summed as a tree first, then K micro-batches.
TEST_F(AccumulatorTest, TreeGivesTheSameBitsForEveryWayToSplitTheGlobalBatch) {
  const std::vector<Values> all = terms(8);
  const Values expected = tree_sum(all);

  for (const std::size_t ranks : {1U, 2U, 4U, 8U}) {
    SCOPED_TRACE(ranks);
    std::vector<Values> reduced;
    for (std::size_t m = 0; m < all.size() / ranks; ++m) {
      reduced.push_back(tree_sum(std::span(all).subspan(m * ranks, ranks)));
    }
    expect_same_bits(expected, accumulate(AccumulationShape::kTree, reduced));
  }
}

TEST_F(AccumulatorTest, SumsStartFromTheFirstTermNotFromZero) {
  const Values negative_zero = {-0.0F};

  for (const AccumulationShape shape : {AccumulationShape::kRunning, AccumulationShape::kTree}) {
    const Values total = accumulate(shape, {negative_zero, negative_zero});
    EXPECT_TRUE(std::signbit(total[0]));
  }
}

TEST_F(AccumulatorTest, PlacesAreSummedIndependently) {
  const std::vector<Values> first = terms(3, 5);
  const std::vector<Values> second = {term(7, 4), term(8, 4), term(9, 4)};
  GradientAccumulator sums = accumulator(AccumulationShape::kTree, 3, 9);

  for (int k = 0; k < 3; ++k) {
    sums.add(*stream_, k, upload(second[static_cast<std::size_t>(k)]).view(), {5, 9});
    sums.add(*stream_, k, upload(first[static_cast<std::size_t>(k)]).view(), {0, 5});
  }

  Values expected = tree_sum(first);
  const Values behind = tree_sum(second);
  expected.insert(expected.end(), behind.begin(), behind.end());
  expect_same_bits(expected, download(sums.total()));
}

TEST_F(AccumulatorTest, EveryGlobalBatchStartsAfresh) {
  const std::vector<Values> two_batches = terms(6);
  GradientAccumulator running = accumulator(AccumulationShape::kRunning, 3, 37);
  GradientAccumulator tree = accumulator(AccumulationShape::kTree, 3, 37);

  for (std::size_t k = 0; k < two_batches.size(); ++k) {
    const Buffer reduced = upload(two_batches[k]);
    running.add(*stream_, static_cast<int>(k % 3), reduced.view(), {0, 37});
    tree.add(*stream_, static_cast<int>(k % 3), reduced.view(), {0, 37});
  }

  const std::vector<Values> second(two_batches.begin() + 3, two_batches.end());
  expect_same_bits(running_sum(second), download(running.total()));
  expect_same_bits(tree_sum(second), download(tree.total()));
}

TEST_F(AccumulatorTest, HoldsOneBufferForARunningSumAndOneALevelForATree) {
  const auto buffers = [](AccumulationShape shape, int micro_batches) {
    return GradientAccumulator::buffers(shape, micro_batches);
  };

  EXPECT_EQ(buffers(AccumulationShape::kNone, 8), 0);
  EXPECT_EQ(buffers(AccumulationShape::kRunning, 8), 1);
  EXPECT_EQ(buffers(AccumulationShape::kTree, 2), 2);
  EXPECT_EQ(buffers(AccumulationShape::kTree, 3), 2);
  EXPECT_EQ(buffers(AccumulationShape::kTree, 4), 3);
  EXPECT_EQ(buffers(AccumulationShape::kTree, 7), 3);
  EXPECT_EQ(buffers(AccumulationShape::kTree, 8), 4);
}

TEST_F(AccumulatorTest, ItsBuffersAreCountedAsAccumulators) {
  const GradientAccumulator sums = accumulator(AccumulationShape::kTree, 5, 64);

  EXPECT_EQ(device_->ledger().held(Category::kAccumulators), 3 * 64 * 4);
}

// 256 + 1 is no bf16 value and rounds back to 256; an fp32 sum keeps every term.
TEST_F(AccumulatorTest, SixteenBitSumsAreRoundedAtEachAddition) {
  const std::vector<Values> all = {{256}, {1}, {1}, {1}};
  GradientAccumulator narrow = accumulator(AccumulationShape::kRunning, 4, 1, DType::kBFloat16);
  for (int k = 0; k < 4; ++k) {
    narrow.add(*stream_, k, upload(all[static_cast<std::size_t>(k)]).view(), {0, 1});
  }
  Values total(1);
  kernels_->download_fp32(*stream_, narrow.total(), total.data());
  stream_->synchronize();

  EXPECT_EQ(total[0], 256);
  EXPECT_EQ(accumulate(AccumulationShape::kRunning, all)[0], 259);
}

TEST_F(AccumulatorTest, WithoutAccumulationNothingIsHeldOrDone) {
  GradientAccumulator sums = accumulator(AccumulationShape::kNone, 1, 64);

  sums.add(*stream_, 0, {}, {0, 64});

  EXPECT_FALSE(sums.active());
  EXPECT_EQ(device_->ledger().held(Category::kAccumulators), 0);
}

}  // namespace
}  // namespace zerolab
