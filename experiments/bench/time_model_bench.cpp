// The planner's time model against the clock: step times predicted from rates that are measured
// beside the steps, over the steps' own times.
#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>

#include "experiments/bench/kernel_bench.h"
#include "experiments/bench/paced_run.h"
#include "experiments/bench/topics.h"
#include "experiments/plan/stage_plans.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

/// What one rank reaches while all others do the same.
struct Rates {
  double product_flops = 0;     ///< operations a second, of the model's own products
  double memory_bandwidth = 0;  ///< bytes a second, reading and writing
};

/// The products of a block and of the head, forward and both gradients.
class Products {
 public:
  Products(KernelBench& bench, const GptConfig& gpt, std::int64_t rows) : bench_(bench) {
    const std::int64_t C = gpt.channels;
    shapes_ = {{rows, C, 3 * C}, {rows, C, C}, {rows, C, 4 * C}, {rows, 4 * C, C}};
    for (std::int64_t layer = 1; layer < gpt.layers; ++layer) {
      shapes_.insert(shapes_.end(), {shapes_[0], shapes_[1], shapes_[2], shapes_[3]});
    }
    shapes_.push_back({rows, C, gpt.vocabulary});
    std::int64_t widest = 0;
    for (const MatrixShape& p : shapes_) widest = std::max({widest, p.k, p.n});
    x_ = bench.floats(rows * widest);
    y_ = bench.floats(rows * widest);
    w_ = bench.floats(C * widest);
    b_ = bench.floats(widest);
  }

  double flops() const {
    double flops = 0;
    for (const MatrixShape& p : shapes_) flops += 3 * 2.0 * static_cast<double>(p.m * p.k * p.n);
    return flops;
  }

  void launch() {
    Kernels& k = bench_.kernels();
    Stream& stream = bench_.stream();
    for (const MatrixShape& p : shapes_) {
      const View x = x_.slice(0, p.m * p.k), y = y_.slice(0, p.m * p.n);
      const View w = w_.slice(0, p.k * p.n), b = b_.slice(0, p.n);
      k.linear(stream, x, w, b, y, p);
      k.linear_backward_input(stream, y, w, x, p);
      k.linear_backward_weight(stream, x, y, w, b, p);
    }
  }

 private:
  KernelBench& bench_;
  std::vector<MatrixShape> shapes_;
  Buffer x_, y_, w_, b_;
};

/// The slowest rank's rates, all ranks measuring at the same time.
Rates measure_rates(const TimeModelSettings& settings, const GptConfig& gpt) {
  const std::int64_t rows = settings.batch * gpt.max_time;
  std::vector<Rates> rates(static_cast<std::size_t>(settings.ranks));
  std::barrier together(settings.ranks);
  const auto measure = [&](Rates& mine) {
    KernelBench bench(1, 1, settings.sample_seconds / 4);
    Products products(bench, gpt, rows);
    const std::int64_t copied = 4 * rows * gpt.channels;
    const KernelBench::Launch copy = bench.copy_limit(copied);
    together.arrive_and_wait();
    const TimePairs times = bench.against([&] { products.launch(); }, copy);
    mine.product_flops = products.flops() / times.a.front();
    mine.memory_bandwidth = 8.0 * static_cast<double>(copied) / times.b.front();
  };
  {
    std::vector<std::jthread> ranks;
    for (Rates& mine : rates) ranks.emplace_back([&] { measure(mine); });
  }
  Rates slowest = rates.front();
  for (const Rates& other : rates) {
    slowest.product_flops = std::min(slowest.product_flops, other.product_flops);
    slowest.memory_bandwidth = std::min(slowest.memory_bandwidth, other.memory_bandwidth);
  }
  return slowest;
}

/// Whose seconds are the mean of both.
Rates mean_of(const Rates& a, const Rates& b) {
  const auto mean = [](double x, double y) { return 2 / (1 / x + 1 / y); };
  return {mean(a.product_flops, b.product_flops), mean(a.memory_bandwidth, b.memory_bandwidth)};
}

/// α and B of one pass between the ranks, through two sizes of all-gathers and reduce-scatters.
struct Link {
  double latency = 0, bandwidth = 0;
};

Link measure_link(const TimeModelSettings& settings, Remarks& remarks) {
  CollectivesSettings sizes;
  sizes.bytes = {64 << 10, 4 << 20};
  sizes.pairs = settings.pairs;
  const auto world = make_thread_world(settings.ranks);
  double small = 0, large = 0;
  for (const Figure& figure : bench_collectives(*world, sizes, remarks)) {
    const bool pass =
        figure.name.starts_with("reduce-scatter, ") || figure.name.starts_with("all-gather, ");
    if (!pass || figure.unit != "GB/s") continue;
    const double seconds = 1e-6 * figure.parts.front().value.median / 2;
    (figure.name.ends_with("64 KiB") ? small : large) += seconds;
  }
  const double n = settings.ranks;
  const double bytes = static_cast<double>(sizes.bytes[1] - sizes.bytes[0]) * (n - 1) / n;
  Link link;
  link.bandwidth = bytes / std::max(large - small, 1e-9);
  const double transfer = static_cast<double>(sizes.bytes[0]) * (n - 1) / n / link.bandwidth;
  link.latency = std::max(0.0, small - transfer) / (n - 1);
  return link;
}

PlanRequest request_of(const TimeModelSettings& settings, const Link& link) {
  PlanRequest request;
  ModelRequest model;
  model.model = settings.model;
  request.model = planned_model(model);
  RunConfig& run = request.recipe.run;
  run.model = settings.model;
  run.ranks = settings.ranks;
  run.micro_batch = settings.batch;
  run.threads = 1;
  run.evaluate_every = 0;
  // Ranks and their communication share the cores: what is sent takes time from what is computed.
  run.overlap = false;
  request.time.cluster.ranks = settings.ranks;
  request.time.cluster.device.intra_bandwidth = link.bandwidth;
  request.time.cluster.latency.intra = link.latency;
  request.time.algorithm = CollectiveAlgorithm::kRing;
  return request;
}

double predicted_seconds(PlanRequest request, const std::string& stage, const Rates& rates) {
  request.time.cluster.device.product_flops = rates.product_flops;
  request.time.cluster.device.memory_bandwidth = rates.memory_bandwidth;
  return plan_stage(stage, request).time->step_seconds;
}

std::vector<double> scaled(std::vector<double> samples, double factor) {
  for (double& sample : samples) sample *= factor;
  return samples;
}

}  // namespace

std::vector<Figure> bench_time_model(const TimeModelSettings& settings, Remarks& remarks) {
  remarks.tell("time model: the link between ranks");
  Remarks quiet;
  const PlanRequest request = request_of(settings, measure_link(settings, quiet));
  const GptConfig& gpt = request.model.spec.gpt();
  std::vector<Figure> figures;
  for (const std::string& stage : stage_names()) {
    remarks.tell(fmt::format("time model: {}, predicted and measured", stage));
    PacedRun run(request.recipe.run, stage);
    const std::int64_t steps = run.steps_in(settings.sample_seconds);
    std::vector<double> ratios, predicted, measured, flops, bandwidths;
    // Rates before and after each stretch: a machine that slows down meanwhile does so for both.
    Rates before = measure_rates(settings, gpt);
    for (int i = 0; i < settings.pairs; ++i) {
      measured.push_back(run.train(steps) / static_cast<double>(steps));
      const Rates after = measure_rates(settings, gpt);
      const Rates rates = mean_of(before, after);
      before = after;
      predicted.push_back(predicted_seconds(request, stage, rates));
      ratios.push_back(predicted.back() / measured.back());
      flops.push_back(rates.product_flops);
      bandwidths.push_back(rates.memory_bandwidth);
    }
    figures.push_back({"time-model",
                       stage,
                       fmt::format("{} on {} of 1 thread, predicted step time over the measured",
                                   settings.model, counted(settings.ranks, "rank")),
                       "",
                       spread_of(ratios),
                       Goal{0.8, 1.2, std::nullopt},
                       {{"predicted", "ms/step", spread_of(scaled(predicted, 1e3))},
                        {"measured", "ms/step", spread_of(scaled(measured, 1e3))},
                        {"products", "GFLOP/s", spread_of(scaled(flops, 1e-9))},
                        {"memory", "GB/s", spread_of(scaled(bandwidths, 1e-9))}}});
  }
  return figures;
}

}  // namespace zerolab
