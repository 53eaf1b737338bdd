// Tokens per second of one rank, in turn with PyTorch on the same shape.
#include <algorithm>
#include <memory>

#include "experiments/bench/paced_run.h"
#include "experiments/bench/topics.h"
#include "experiments/bench/torch_peer.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

Goal faster(double must, double aim) { return {must, std::nullopt, aim}; }

RunConfig config_of(const StepShape& shape, int threads) {
  RunConfig config;
  config.model = shape.model;
  config.micro_batch = shape.batch;
  config.sequence = shape.time;
  config.ranks = 1;
  config.threads = threads;
  return config;
}

/// Null, with a notice, where PyTorch cannot train.
std::unique_ptr<TorchPeer> start_peer(const StepShape& shape, int threads, bool tuned,
                                      Remarks& remarks) {
  const GptConfig model = parse_model(shape.model).gpt();
  try {
    return std::make_unique<TorchPeer>(
        TorchSettings{model, shape.batch, shape.time, threads, tuned});
  } catch (const Failure& failure) {
    const std::string notice =
        fmt::format("steps are shown without a peer, because {}", failure.what());
    if (std::ranges::find(remarks.notices, notice) == remarks.notices.end()) {
      remarks.notices.push_back(notice);
    }
    return nullptr;
  }
}

/// Our run against one peer.
class Against {
 public:
  Against(PacedRun& ours, std::int64_t steps, int pairs)
      : ours_(ours),
        steps_(steps),
        pairs_(pairs),
        tokens_(static_cast<double>(ours.tokens_per_step() * steps)) {}

  Figure alone(Figure figure) const {
    std::vector<double> seconds;
    for (int i = 0; i < pairs_; ++i) seconds.push_back(ours_.train(steps_));
    figure.meaning = "tokens a second of one rank";
    figure.unit = "tokens/s";
    figure.value = rate(tokens_, seconds);
    figure.goal.reset();
    return figure;
  }

  Figure peer(Figure figure, TorchPeer& peer, const std::string& peer_name) const {
    const TimePairs times = measure_pairs(
        pairs_, [&] { return ours_.train(steps_); }, [&] { return peer.train(steps_); });
    figure.meaning = "tokens a second of one rank, over PyTorch's";
    figure.value = times.speed_ratio();
    figure.parts = {{"zerolab", "tokens/s", rate(tokens_, times.a)},
                    {peer_name, "tokens/s", rate(tokens_, times.b)}};
    return figure;
  }

 private:
  PacedRun& ours_;
  std::int64_t steps_;
  int pairs_;
  double tokens_;
};

void measure(const StepsSettings& settings, const StepShape& shape, int threads, Remarks& remarks,
             std::vector<Figure>& figures) {
  Figure figure;
  figure.topic = "steps";
  figure.name = fmt::format("{}, {}", shape.name, counted(threads, "thread"));
  if (threads <= 2) figure.goal = shape.goals[static_cast<std::size_t>(threads - 1)];
  remarks.tell(fmt::format("steps: {}", figure.name));

  PacedRun ours(config_of(shape, threads), "ddp");
  const Against against(ours, ours.steps_in(settings.sample_seconds), settings.pairs);
  auto peer = start_peer(shape, threads, false, remarks);
  if (!peer) {
    figures.push_back(against.alone(std::move(figure)));
    return;
  }
  figures.push_back(against.peer(figure, *peer, peer->name()));
  if (!shape.tuned_peer_too) return;
  peer.reset();  // its memory first
  peer = start_peer(shape, threads, true, remarks);
  if (!peer) return;
  figure.name += ", PyTorch tuned";
  figure.goal.reset();
  figures.push_back(against.peer(std::move(figure), *peer, peer->name() + " tuned"));
}

}  // namespace

std::vector<StepShape> step_shapes() {
  return {{"S", "gpt-tiny", 8, 128, {faster(1.1, 1.3), faster(1.2, 1.45)}, false},
          {"M", "gpt-small", 4, 256, {faster(1.0, 1.1), faster(1.1, 1.2)}, false},
          {"L", "gpt2-124m", 4, 64, {faster(1.15, 1.3), faster(1.4, 1.55)}, true}};
}

std::vector<Figure> bench_steps(const StepsSettings& settings, Remarks& remarks) {
  std::vector<Figure> figures;
  for (const StepShape& shape : settings.shapes) {
    for (const int threads : settings.threads) measure(settings, shape, threads, remarks, figures);
  }
  return figures;
}

}  // namespace zerolab
