// Kernels against limits that are measured beside them, on the same thread of the same stream and
// with as many helpers: memory for AdamW, norms and losses, the arithmetic units for products.
#include <algorithm>
#include <functional>
#include <iterator>

#include "experiments/bench/kernel_bench.h"
#include "experiments/bench/topics.h"
#include "experiments/report/words.h"
#include "stages/model/model_factory.h"

namespace zerolab {
namespace {

struct Sizes {
  std::int64_t batch, time, rows;  ///< rows = B·T
  std::int64_t channels, heads, vocabulary;
};

Sizes sizes_of(const StepShape& shape) {
  const GptConfig model = parse_model(shape.model).gpt();
  return {shape.batch,    shape.time,  shape.batch * shape.time,
          model.channels, model.heads, model.vocabulary};
}

/// The four products of a block: qkv, attention's projection, the MLP's two.
std::vector<MatrixShape> layer_products(const Sizes& s) {
  const std::int64_t C = s.channels;
  return {{s.rows, C, 3 * C}, {s.rows, C, C}, {s.rows, C, 4 * C}, {s.rows, 4 * C, C}};
}

double flops_of(const std::vector<MatrixShape>& products) {
  double flops = 0;
  for (const MatrixShape& p : products) flops += 2.0 * static_cast<double>(p.m * p.k * p.n);
  return flops;
}

/// One shape with one number of threads.
class ShapeFigures {
 public:
  ShapeFigures(KernelBench& bench, const StepShape& shape, std::vector<Figure>& figures)
      : bench_(bench), name_(shape.name), s_(sizes_of(shape)), figures_(figures) {}

  void products() {
    const std::vector<MatrixShape> layers = layer_products(s_);
    const Buffer narrow = bench_.floats(4 * s_.rows * s_.channels);
    const Buffer wide = bench_.floats(4 * s_.rows * s_.channels);
    const Buffer weights = bench_.floats(4 * s_.channels * s_.channels);
    const Buffer bias = bench_.floats(4 * s_.channels);
    const auto each = [&](auto work) {
      return [&, work] {
        for (const MatrixShape& p : layers) {
          work(narrow.slice(0, p.m * p.k), weights.slice(0, p.k * p.n), bias.slice(0, p.n),
               wide.slice(0, p.m * p.n), p);
        }
      };
    };
    Kernels& k = bench_.kernels();
    Stream& stream = bench_.stream();
    against_arithmetic("products, forward", flops_of(layers),
                       each([&](View x, View w, View b, View y, MatrixShape p) {
                         k.linear(stream, x, w, b, y, p);
                       }));
    against_arithmetic("products, gradient of the input", flops_of(layers),
                       each([&](View x, View w, View, View y, MatrixShape p) {
                         k.linear_backward_input(stream, y, w, x, p);
                       }));
    against_arithmetic("products, gradient of the weights", flops_of(layers),
                       each([&](View x, View w, View b, View y, MatrixShape p) {
                         k.linear_backward_weight(stream, x, y, w, b, p);
                       }));
  }

  void head() {
    const MatrixShape p{s_.rows, s_.channels, s_.vocabulary};
    const Buffer x = bench_.floats(p.m * p.k);
    const Buffer w = bench_.floats(p.k * p.n);
    const Buffer logits = bench_.floats(p.m * p.n);
    const Buffer dx = bench_.floats(p.m * p.k);
    const Buffer dw = bench_.floats(p.k * p.n);
    Kernels& k = bench_.kernels();
    against_arithmetic("output head, forward and backward", 3 * flops_of({p}), [&] {
      k.head(bench_.stream(), x.view(), w.view(), logits.view(), p);
      k.head_backward_input(bench_.stream(), logits.view(), w.view(), dx.view(), p);
      k.head_backward_weight(bench_.stream(), logits.view(), x.view(), dw.view(), p);
    });
  }

  void attention() {
    const AttentionShape shape{s_.batch, s_.time, s_.heads, s_.channels / s_.heads};
    const Buffer qkv = bench_.floats(3 * s_.rows * s_.channels);
    const Buffer y = bench_.floats(s_.rows * s_.channels);
    const Buffer saved = bench_.floats(bench_.kernels().attention_saved_count(shape));
    const Buffer dqkv = bench_.floats(3 * s_.rows * s_.channels);
    // Pairs of a query and a key that is not in its future; a product costs 2·head_size each.
    const double pairs = 0.5 * static_cast<double>(s_.batch * s_.heads * s_.time * (s_.time + 1));
    const double product = 2.0 * pairs * static_cast<double>(shape.head_size);
    Kernels& k = bench_.kernels();
    against_arithmetic("attention, forward", 2 * product, [&] {
      k.attention(bench_.stream(), qkv.view(), y.view(), saved.view(), shape);
    });
    against_arithmetic("attention, backward", 5 * product, [&] {
      k.attention_backward(bench_.stream(), y.view(), qkv.view(), y.view(), saved.view(),
                           dqkv.view(), shape);
    });
  }

  void norms_and_loss() {
    const std::int64_t count = s_.rows * s_.channels;
    const Buffer x = bench_.floats(count), y = bench_.floats(count);
    const Buffer w = bench_.floats(s_.channels), b = bench_.floats(s_.channels);
    const Buffer mean = bench_.floats(s_.rows), rstd = bench_.floats(s_.rows);
    Kernels& k = bench_.kernels();
    against_copy("layer norm, forward", count, [&] {
      k.layer_norm(bench_.stream(), x.view(), w.view(), b.view(), y.view(), mean.view(),
                   rstd.view(), s_.rows, s_.channels);
    });
    const Buffer logits = bench_.floats(s_.rows * s_.vocabulary);
    const Buffer targets = bench_.allocate(DType::kInt32, s_.rows);
    const Buffer loss = bench_.allocate(DType::kFloat64, 1);
    k.zero(bench_.stream(), targets.view());
    against_copy("cross entropy with gradient", logits.count(), [&] {
      k.cross_entropy(bench_.stream(), logits.view(), targets.view(), loss.view(), s_.rows,
                      s_.vocabulary, 1e-3F, true);
    });
  }

 private:
  void against_arithmetic(const char* what, double flops, const std::function<void()>& work) {
    const TimePairs times = bench_.against(work, bench_.arithmetic_limit(flops));
    add(what, "rate over that of fused multiply-adds on registers", times,
        {{"kernel", "GFLOP/s", rate(1e-9 * flops, times.a)},
         {"limit", "GFLOP/s", rate(1e-9 * flops, times.b)}});
  }

  void against_copy(const char* what, std::int64_t count, const std::function<void()>& work) {
    const TimePairs times = bench_.against(work, bench_.copy_limit(count));
    const double bytes = 8e-9 * static_cast<double>(count);
    add(what, "rate over that of copying the same array", times,
        {{"kernel", "GB/s", rate(bytes, times.a)}, {"limit", "GB/s", rate(bytes, times.b)}});
  }

  void add(const char* what, const char* meaning, const TimePairs& times, std::vector<Part> parts) {
    figures_.push_back({"kernels",
                        fmt::format("{}, {}, {}", name_, counted(bench_.threads(), "thread"), what),
                        meaning, "", times.speed_ratio(), std::nullopt, std::move(parts)});
  }

  KernelBench& bench_;
  std::string name_;
  Sizes s_;
  std::vector<Figure>& figures_;
};

Figure adamw_figure(KernelBench& bench, std::int64_t count) {
  const Buffer p = bench.floats(count), g = bench.floats(count);
  const Buffer m = bench.floats(count), v = bench.floats(count);
  const Buffer factor = bench.floats(1);
  bench.kernels().fill(bench.stream(), v.view(), 1e-3F);
  const std::vector<Segment> segments = {{0, 0, 0, count, true}};
  AdamWRule rule;
  rule.learning_rate = 1e-3F;
  rule.weight_decay = 0.1F;
  const TimePairs times = bench.against(
      [&] {
        bench.kernels().adamw(bench.stream(), p.view(), g.view(), m.view(), v.view(), factor.view(),
                              rule, segments);
      },
      bench.adamw_limit(p.view(), g.view(), m.view(), v.view()));
  const double bytes = 1e-9 * static_cast<double>(limits::kAdamWBytes * count);
  return {"kernels",
          fmt::format("AdamW, {}, {} elements", counted(bench.threads(), "thread"), grouped(count)),
          "rate over that of a loop with the same memory accesses",
          "",
          times.speed_ratio(),
          Goal{0.9, std::nullopt, std::nullopt},
          {{"kernel", "GB/s", rate(bytes, times.a)}, {"limit", "GB/s", rate(bytes, times.b)}}};
}

}  // namespace

std::vector<Figure> bench_kernels(const KernelsSettings& settings, Remarks& remarks) {
  std::vector<Figure> figures, by_copy;
  for (const int threads : settings.threads) {
    KernelBench bench(threads, settings.pairs, settings.sample_seconds);
    remarks.tell(fmt::format("kernels: AdamW, {}", counted(threads, "thread")));
    figures.push_back(adamw_figure(bench, settings.adamw_elements));
  }
  for (const StepShape& shape : settings.shapes) {
    for (const int threads : settings.threads) {
      remarks.tell(fmt::format("kernels: {}, {}", shape.name, counted(threads, "thread")));
      KernelBench bench(threads, settings.pairs, settings.sample_seconds);
      ShapeFigures arithmetic(bench, shape, figures);
      arithmetic.products();
      arithmetic.head();
      arithmetic.attention();
      ShapeFigures(bench, shape, by_copy).norms_and_loss();
    }
  }
  std::ranges::move(by_copy, std::back_inserter(figures));
  return figures;
}

}  // namespace zerolab
