// The number of threads must not change a bit of any result.
#include <gtest/gtest.h>

#include <functional>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::testing_kernels {
namespace {

/// Everything a kernel wrote, as bytes.
using Bytes = std::vector<std::int8_t>;

struct KernelCase {
  const char* name;
  std::function<std::vector<Buffer>(KernelBench&)> run;
};

Bytes bytes_of(KernelBench& bench, const std::vector<Buffer>& outputs) {
  Bytes all;
  for (const Buffer& buffer : outputs) {
    const View raw{buffer.view().data, DType::kInt8, buffer.view().bytes()};
    const Bytes part = bench.get<std::int8_t>(raw);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

template <class... B>
std::vector<Buffer> list(B... buffers) {
  std::vector<Buffer> out;
  (out.push_back(std::move(buffers)), ...);
  return out;
}

// Larger than one tile in both directions, and in no direction a multiple of one.
constexpr MatrixShape kShape{601, 70, 1100};

Buffer x(KernelBench& b) { return b.put(numbers(kShape.m * kShape.k, 1)); }
Buffer w(KernelBench& b) { return b.put(numbers(kShape.k * kShape.n, 2)); }
Buffer y(KernelBench& b) { return b.put(numbers(kShape.m * kShape.n, 3)); }

std::vector<Buffer> run_linear(KernelBench& b) {
  Buffer in = x(b), weight = w(b), bias = b.put(numbers(kShape.n, 4)), residual = y(b);
  Buffer out = b.empty(kShape.m * kShape.n), pre = b.empty(kShape.m * kShape.n),
         activated = b.empty(kShape.m * kShape.n);
  b.kernels().linear_residual(b.stream(), in.view(), weight.view(), bias.view(), residual.view(),
                              out.view(), kShape);
  b.kernels().linear_gelu(b.stream(), in.view(), weight.view(), bias.view(), pre.view(),
                          activated.view(), kShape);
  return list(std::move(out), std::move(pre), std::move(activated));
}

std::vector<Buffer> run_linear_backward(KernelBench& b) {
  Buffer in = x(b), weight = w(b), d = y(b), dw = w(b), db = b.put(numbers(kShape.n, 4));
  Buffer dx = b.empty(kShape.m * kShape.k), dpre = b.empty(kShape.m * kShape.k);
  b.kernels().linear_backward_input(b.stream(), d.view(), weight.view(), dx.view(), kShape);
  b.kernels().linear_backward_input_gelu(b.stream(), d.view(), weight.view(), in.view(),
                                         dpre.view(), kShape);
  b.kernels().linear_backward_weight(b.stream(), in.view(), d.view(), dw.view(), db.view(), kShape);
  return list(std::move(dx), std::move(dpre), std::move(dw), std::move(db));
}

std::vector<Buffer> run_head(KernelBench& b) {
  Buffer in = x(b), weight = w(b), d = y(b), dw = w(b);
  Buffer out = b.empty(kShape.m * kShape.n), dx = b.empty(kShape.m * kShape.k);
  b.kernels().head(b.stream(), in.view(), weight.view(), out.view(), kShape);
  b.kernels().head_backward_input(b.stream(), d.view(), weight.view(), dx.view(), kShape);
  b.kernels().head_backward_weight(b.stream(), d.view(), in.view(), dw.view(), kShape);
  return list(std::move(out), std::move(dx), std::move(dw));
}

std::vector<Buffer> run_layer_norm(KernelBench& b) {
  constexpr std::int64_t kRows = 333, kC = 67;
  Buffer in = b.put(numbers(kRows * kC, 1)), d = b.put(numbers(kRows * kC, 2)),
         weight = b.put(numbers(kC, 3)), bias = b.put(numbers(kC, 4)), out = b.empty(kRows * kC),
         mean = b.empty(kRows), rstd = b.empty(kRows), dx = b.empty(kRows * kC),
         dw = b.put(numbers(kC, 5)), db = b.put(numbers(kC, 6));
  b.kernels().layer_norm(b.stream(), in.view(), weight.view(), bias.view(), out.view(), mean.view(),
                         rstd.view(), kRows, kC);
  b.kernels().layer_norm_backward(b.stream(), d.view(), in.view(), weight.view(), mean.view(),
                                  rstd.view(), out.view(), dx.view(), dw.view(), db.view(), kRows,
                                  kC);
  return list(std::move(out), std::move(mean), std::move(dx), std::move(dw), std::move(db));
}

std::vector<Buffer> run_attention(KernelBench& b) {
  const AttentionShape s{2, 150, 3, 20};
  const std::int64_t count = s.batch * s.time * s.heads * s.head_size;
  Buffer qkv = b.put(numbers(3 * count, 1)), dy = b.put(numbers(count, 2)), out = b.empty(count),
         saved = b.empty(b.kernels().attention_saved_count(s)), dqkv = b.empty(3 * count);
  b.kernels().attention(b.stream(), qkv.view(), out.view(), saved.view(), s);
  b.kernels().attention_backward(b.stream(), dy.view(), qkv.view(), out.view(), saved.view(),
                                 dqkv.view(), s);
  return list(std::move(out), std::move(saved), std::move(dqkv));
}

std::vector<Buffer> run_embedding(KernelBench& b) {
  constexpr std::int64_t kB = 5, kT = 31, kC = 200, kV = 17;
  Buffer ids = b.put(tokens(kB * kT, 1, kV)), dy = b.put(numbers(kB * kT * kC, 2)),
         wte = b.put(numbers(kV * kC, 3)), wpe = b.put(numbers(kT * kC, 4)),
         out = b.empty(kB * kT * kC);
  b.kernels().embedding(b.stream(), ids.view(), wte.view(), wpe.view(), out.view(), kB, kT, kC);
  b.kernels().embedding_backward(b.stream(), ids.view(), dy.view(), wte.view(), wpe.view(), kB, kT,
                                 kC);
  return list(std::move(out), std::move(wte), std::move(wpe));
}

std::vector<Buffer> run_losses(KernelBench& b) {
  constexpr std::int64_t kRows = 301, kV = 129;
  Buffer logits = b.put(numbers(kRows * kV, 1, 5.0F)), targets = b.put(tokens(kRows, 2, kV)),
         prediction = b.put(numbers(kRows * kV, 3)), truth = b.put(numbers(kRows * kV, 4)),
         d = b.empty(kRows * kV), cross = b.empty(1, DType::kFloat64),
         squared = b.empty(1, DType::kFloat64);
  b.kernels().cross_entropy(b.stream(), logits.view(), targets.view(), cross.view(), kRows, kV,
                            0.1F, true);
  b.kernels().squared_error(b.stream(), prediction.view(), truth.view(), d.view(), squared.view(),
                            0.1F);
  return list(std::move(logits), std::move(cross), std::move(d), std::move(squared));
}

std::vector<Buffer> run_optimizers(KernelBench& b) {
  constexpr std::int64_t kCount = 200'001;
  const std::vector<Segment> whole{{0, 0, 0, kCount, true}};
  Buffer p = b.put(numbers(kCount, 1)), g = b.put(numbers(kCount, 2)),
         m = b.put(numbers(kCount, 3)), v = b.put(std::vector<float>(kCount, 0.5F)),
         q = b.put(numbers(kCount, 4)), factor = b.put(std::vector<float>{0.3F});
  b.kernels().adamw(b.stream(), p.view(), g.view(), m.view(), v.view(), factor.view(),
                    {0.01F, 0.9F, 0.99F, 1e-8F, 0.1F, 2}, whole);
  b.kernels().sgd(b.stream(), q.view(), g.view(), m.view(), factor.view(), {0.1F, 0.9F, 0.1F, 2},
                  whole);
  return list(std::move(p), std::move(m), std::move(v), std::move(q));
}

std::vector<Buffer> run_checks(KernelBench& b) {
  constexpr std::int64_t kCount = 300'001;
  const std::vector<Segment> whole{{0, 0, 0, kCount, true}};
  Buffer random = b.empty(kCount), hash = b.put(std::vector<std::uint64_t>{1}),
         maximum = b.put(std::vector<std::int32_t>{0}), sums = b.put(std::vector<double>(3, 0.0));
  b.kernels().normal(b.stream(), random.view(), 0.5F, 1, 2, 3);
  b.kernels().fingerprint(b.stream(), random.view(), whole, hash.view());
  b.kernels().max_magnitude(b.stream(), random.view(), whole, maximum.view());
  b.kernels().sum_of_squares(b.stream(), random.view(), whole, maximum.view(), kCount, sums.view());
  return list(std::move(random), std::move(hash), std::move(maximum), std::move(sums));
}

class ThreadCountTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(ThreadCountTest, DoesNotChangeABit) {
  KernelBench alone(1);
  const Bytes expected = bytes_of(alone, GetParam().run(alone));
  EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](auto b) { return b != 0; }),
            static_cast<std::ptrdiff_t>(expected.size() / 2));
  for (const int threads : {2, 3}) {
    KernelBench bench(threads);
    EXPECT_EQ(bytes_of(bench, GetParam().run(bench)), expected) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, ThreadCountTest,
    ::testing::Values(KernelCase{"linear", run_linear},
                      KernelCase{"linear_backward", run_linear_backward},
                      KernelCase{"head", run_head}, KernelCase{"layer_norm", run_layer_norm},
                      KernelCase{"attention", run_attention},
                      KernelCase{"embedding", run_embedding}, KernelCase{"losses", run_losses},
                      KernelCase{"optimizers", run_optimizers}, KernelCase{"checks", run_checks}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

// Weights and activations lie at other addresses in every stage; the bits must not follow them.
TEST(Alignment, AProductDoesNotDependOnWhereItsMatricesLie) {
  const MatrixShape s{7, 13, 11};
  std::vector<std::vector<float>> results;
  for (const std::int64_t shift : {0, 1, 3, 8}) {
    KernelBench b;
    const Buffer in = b.empty(100 + shift), weight = b.empty(150 + shift),
                 out = b.empty(80 + shift);
    const auto in_values = numbers(s.m * s.k, 1), weights = numbers(s.k * s.n, 2);
    b.kernels().upload(b.stream(), in_values.data(), s.m * s.k * 4, in.slice(shift, s.m * s.k));
    b.kernels().upload(b.stream(), weights.data(), s.k * s.n * 4, weight.slice(shift, s.k * s.n));
    b.kernels().linear(b.stream(), in.slice(shift, s.m * s.k), weight.slice(shift, s.k * s.n), {},
                       out.slice(shift, s.m * s.n), s);
    results.push_back(b.get(out.slice(shift, s.m * s.n)));
  }
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace zerolab::testing_kernels
