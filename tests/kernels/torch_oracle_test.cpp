// The kernels against PyTorch: an implementation that shares nothing with ours.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "tests/kernels/kernel_bench.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab::testing_kernels {
namespace {

/// A directory of raw arrays and the list of them.
class Exchange {
 public:
  template <class T>
  void write(const std::string& kernel, const std::string& name, const std::vector<T>& values,
             const std::vector<std::int64_t>& shape) {
    std::ofstream raw(directory_ / fmt::format("{}.{}", kernel, name), std::ios::binary);
    raw.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
    manifest_ << kernel << ' ' << name << ' ' << name_of(dtype_of<T>);
    for (const std::int64_t size : shape) manifest_ << ' ' << size;
    manifest_ << std::endl;
  }

  /// The script's exit code; what it says goes to the test's output.
  int ask_torch() const {
    const std::string command =
        fmt::format("/usr/bin/python3 {}/tests/tools/kernels_against_torch.py {}",
                    ZEROLAB_SOURCE_DIR, directory_.path().string());
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  TemporaryDirectory directory_;
  std::ofstream manifest_{directory_ / "manifest.txt"};
};

void layer_norm(KernelBench& b, Exchange& e) {
  constexpr std::int64_t kRows = 7, kC = 37;
  const auto x = numbers(kRows * kC, 1, 2.0F), w = numbers(kC, 2), bias = numbers(kC, 3),
             dy = numbers(kRows * kC, 4);
  const Buffer bx = b.put(x), bw = b.put(w), bb = b.put(bias), bdy = b.put(dy);
  const Buffer y = b.empty(kRows * kC), mean = b.empty(kRows), rstd = b.empty(kRows),
               dx = b.empty(kRows * kC), dw = b.put(std::vector<float>(kC, 0.0F)),
               db = b.put(std::vector<float>(kC, 0.0F));
  b.kernels().layer_norm(b.stream(), bx.view(), bw.view(), bb.view(), y.view(), mean.view(),
                         rstd.view(), kRows, kC);
  b.kernels().layer_norm_backward(b.stream(), bdy.view(), bx.view(), bw.view(), mean.view(),
                                  rstd.view(), {}, dx.view(), dw.view(), db.view(), kRows, kC);
  e.write("layer_norm", "x", x, {kRows, kC});
  e.write("layer_norm", "w", w, {kC});
  e.write("layer_norm", "b", bias, {kC});
  e.write("layer_norm", "dy", dy, {kRows, kC});
  e.write("layer_norm", "out_y", b.get(y), {kRows, kC});
  e.write("layer_norm", "out_dx", b.get(dx), {kRows, kC});
  e.write("layer_norm", "out_dw", b.get(dw), {kC});
  e.write("layer_norm", "out_db", b.get(db), {kC});
}

void linear_gelu(KernelBench& b, Exchange& e) {
  // The backward of y = gelu(x·w + b): through the GELU as the layer after it would do with a unit
  // weight, then to x, w and b.
  constexpr MatrixShape s{9, 21, 13};
  const auto x = numbers(s.m * s.k, 1), w = numbers(s.k * s.n, 2), bias = numbers(s.n, 3),
             dy = numbers(s.m * s.n, 4);
  std::vector<float> unit(static_cast<std::size_t>(s.n * s.n), 0.0F);
  for (std::int64_t i = 0; i < s.n; ++i) unit[static_cast<std::size_t>(i * s.n + i)] = 1.0F;
  const Buffer bx = b.put(x), bw = b.put(w), bb = b.put(bias), bdy = b.put(dy), bu = b.put(unit);
  const Buffer pre = b.empty(s.m * s.n), y = b.empty(s.m * s.n), dpre = b.empty(s.m * s.n),
               dx = b.empty(s.m * s.k), dw = b.put(std::vector<float>(w.size(), 0.0F)),
               db = b.put(std::vector<float>(bias.size(), 0.0F));
  b.kernels().linear_gelu(b.stream(), bx.view(), bw.view(), bb.view(), pre.view(), y.view(), s);
  b.kernels().linear_backward_input_gelu(b.stream(), bdy.view(), bu.view(), pre.view(), dpre.view(),
                                         {s.m, s.n, s.n});
  b.kernels().linear_backward_input(b.stream(), dpre.view(), bw.view(), dx.view(), s);
  b.kernels().linear_backward_weight(b.stream(), bx.view(), dpre.view(), dw.view(), db.view(), s);
  e.write("linear_gelu", "x", x, {s.m, s.k});
  e.write("linear_gelu", "w", w, {s.k, s.n});
  e.write("linear_gelu", "b", bias, {s.n});
  e.write("linear_gelu", "dy", dy, {s.m, s.n});
  e.write("linear_gelu", "out_pre", b.get(pre), {s.m, s.n});
  e.write("linear_gelu", "out_y", b.get(y), {s.m, s.n});
  e.write("linear_gelu", "out_dx", b.get(dx), {s.m, s.k});
  e.write("linear_gelu", "out_dw", b.get(dw), {s.k, s.n});
  e.write("linear_gelu", "out_db", b.get(db), {s.n});
}

void attention(KernelBench& b, Exchange& e) {
  constexpr AttentionShape s{2, 37, 3, 12};
  constexpr std::int64_t kC = s.heads * s.head_size, kCount = s.batch * s.time * kC;
  const auto qkv = numbers(3 * kCount, 1, 2.0F), dy = numbers(kCount, 2);
  const Buffer bq = b.put(qkv), bdy = b.put(dy), y = b.empty(kCount), dqkv = b.empty(3 * kCount),
               saved = b.empty(b.kernels().attention_saved_count(s));
  b.kernels().attention(b.stream(), bq.view(), y.view(), saved.view(), s);
  b.kernels().attention_backward(b.stream(), bdy.view(), bq.view(), y.view(), saved.view(),
                                 dqkv.view(), s);
  e.write("attention", "qkv", qkv, {s.batch, s.time, 3 * kC});
  e.write("attention", "dy", dy, {s.batch, s.time, kC});
  e.write("attention", "heads", std::vector<std::int32_t>{s.heads}, {1});
  e.write("attention", "out_y", b.get(y), {s.batch, s.time, kC});
  e.write("attention", "out_dqkv", b.get(dqkv), {s.batch, s.time, 3 * kC});
}

void cross_entropy(KernelBench& b, Exchange& e) {
  constexpr std::int64_t kRows = 11, kV = 53;
  constexpr float kScale = 0.125F;
  const auto logits = numbers(kRows * kV, 1, 5.0F);
  auto targets = tokens(kRows, 2, kV);
  targets[4] = -1;
  const Buffer bl = b.put(logits), bt = b.put(targets), loss = b.empty(1, DType::kFloat64);
  b.kernels().cross_entropy(b.stream(), bl.view(), bt.view(), loss.view(), kRows, kV, kScale, true);
  e.write("cross_entropy", "logits", logits, {kRows, kV});
  e.write("cross_entropy", "targets", targets, {kRows});
  e.write("cross_entropy", "scale", std::vector<float>{kScale}, {1});
  e.write("cross_entropy", "out_loss", b.get<double>(loss), {1});
  e.write("cross_entropy", "out_dlogits", b.get(bl), {kRows, kV});
}

/// Five steps of an optimizer on parameters of which the first half decays. `step(p, g, factor,
/// step, segments)` launches one.
template <class Step>
void optimizer(KernelBench& b, Exchange& e, const std::string& name, std::vector<float> rule,
               const Step& step) {
  constexpr std::int64_t kCount = 202, kSteps = 5;
  constexpr float kFactor = 0.25F;
  const std::vector<Segment> halves{{0, 0, 0, kCount / 2, true},
                                    {1, 0, kCount / 2, kCount / 2, false}};
  const auto p = numbers(kCount, 1), gradients = numbers(kSteps * kCount, 2, 3.0F);
  const Buffer bp = b.put(p), bg = b.put(gradients), factor = b.put(std::vector<float>{kFactor});
  for (std::int64_t i = 0; i < kSteps; ++i) {
    step(bp.view(), bg.slice(i * kCount, kCount), factor.view(), i + 1, halves);
  }
  e.write(name, "p", p, {kCount});
  e.write(name, "gradients", gradients, {kSteps, kCount});
  e.write(name, "factor", std::vector<float>{kFactor}, {1});
  e.write(name, "rule", rule, {static_cast<std::int64_t>(rule.size())});
  e.write(name, "out_p", b.get(bp), {kCount});
}

void optimizers(KernelBench& b, Exchange& e) {
  const Buffer m = b.put(std::vector<float>(202, 0.0F)), v = b.put(std::vector<float>(202, 0.0F)),
               momentum = b.empty(202);
  optimizer(b, e, "adamw", {0.01F, 0.9F, 0.95F, 1e-8F, 0.1F},
            [&](View p, View g, View factor, std::int64_t step, const auto& segments) {
              b.kernels().adamw(b.stream(), p, g, m.view(), v.view(), factor,
                                {0.01F, 0.9F, 0.95F, 1e-8F, 0.1F, step}, segments);
            });
  optimizer(b, e, "sgd", {0.05F, 0.9F, 0.1F},
            [&](View p, View g, View factor, std::int64_t step, const auto& segments) {
              b.kernels().sgd(b.stream(), p, g, momentum.view(), factor, {0.05F, 0.9F, 0.1F, step},
                              segments);
            });
}

TEST(TorchOracle, AgreesWithEveryKernelThatItKnows) {
  KernelBench bench;
  Exchange exchange;
  layer_norm(bench, exchange);
  linear_gelu(bench, exchange);
  attention(bench, exchange);
  cross_entropy(bench, exchange);
  optimizers(bench, exchange);

  const int code = exchange.ask_torch();

  if (code == 77) GTEST_SKIP() << "/usr/bin/python3 has no torch; install python3-torch";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace zerolab::testing_kernels
