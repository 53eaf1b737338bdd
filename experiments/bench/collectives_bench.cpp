// Collectives: bandwidth of the bus by the convention of nccl-tests, and between threads the
// fraction of what the machine could do if all it had to do were to move the algorithm's bytes.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "experiments/bench/limits.h"
#include "experiments/bench/topics.h"
#include "experiments/report/words.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/model/layout.h"

namespace zerolab {
namespace {

const CallTag kTag{"benchmark", Traffic::kTraining, ""};
constexpr std::int64_t kBytesPerSample = 16 << 20;
constexpr std::int64_t kMostCalls = 200;

struct Case {
  CollectiveOp op;
  const char* name;
};
constexpr Case kCases[] = {{CollectiveOp::kAllReduce, "all-reduce"},
                           {CollectiveOp::kReduceScatter, "reduce-scatter"},
                           {CollectiveOp::kAllGather, "all-gather"}};

/// Bus bandwidth over (bytes of the array / time), as nccl-tests counts.
double bus_factor(CollectiveOp op, double ranks) {
  return (op == CollectiveOp::kAllReduce ? 2 : 1) * (ranks - 1) / ranks;
}

/// Bytes that one rank reads and writes when peers look into each other's memory, for an array of
/// S bytes. A reduction reads N slices of S/N and writes one; a gather reads and writes N−1.
double moved_bytes(CollectiveOp op, double ranks, double array_bytes) {
  const double slice = array_bytes / ranks;
  const double reduction = (ranks + 1) * slice;
  const double gather = 2 * (ranks - 1) * slice;
  if (op == CollectiveOp::kReduceScatter) return reduction;
  return op == CollectiveOp::kAllGather ? gather : reduction + gather;
}

/// One rank's arrays and the work on them.
class Bench {
 public:
  Bench(RankContext& ranks, std::int64_t largest_bytes)
      : device_(make_cpu_device()),
        stream_(device_->create_stream("communication")),
        comm_(ranks.create_communicator(*device_, *stream_, {.checked = false})) {
    const std::int64_t count = padded(largest_bytes);
    array_ = zeroed(count, "array");
    // What the hungriest collective moves, half of it read and half of it written.
    const auto moved = static_cast<std::int64_t>(
        moved_bytes(CollectiveOp::kAllReduce, comm_->world_size(), static_cast<double>(4 * count)));
    from_ = zeroed(moved / 8, "copied from");
    to_ = zeroed(moved / 8, "copied to");
  }

  /// Elements of an array of about so many bytes that every rank owns an equal slice of.
  std::int64_t padded(std::int64_t bytes) const {
    return round_up(bytes / 4, kTensorAlignment * comm_->world_size());
  }

  double collective(CollectiveOp op, std::int64_t bytes) {
    const View array = array_.slice(0, padded(bytes));
    const std::int64_t slice = array.count / comm_->world_size();
    const View own = array.slice(comm_->rank() * slice, slice);
    const std::int64_t calls = std::clamp(kBytesPerSample / bytes, std::int64_t{1}, kMostCalls);
    const double seconds = timed([&] {
      for (std::int64_t i = 0; i < calls; ++i) {
        if (op == CollectiveOp::kAllReduce) comm_->all_reduce(array, kTag);
        if (op == CollectiveOp::kReduceScatter) comm_->reduce_scatter(array, own, kTag);
        if (op == CollectiveOp::kAllGather) comm_->all_gather(own, array, kTag);
      }
    });
    return seconds / static_cast<double>(calls);
  }

  /// All ranks at once copy as many bytes as `op` would move: half read, half written.
  double copies(CollectiveOp op, std::int64_t bytes, bool library) {
    const auto moved = moved_bytes(op, comm_->world_size(), static_cast<double>(4 * padded(bytes)));
    const auto count = static_cast<std::int64_t>(moved / 8);
    const View from = from_.slice(0, count);
    const View to = to_.slice(0, count);
    return timed([&] {
      stream_->launch({"copy", "", {from}, {to}, [=] {
                         if (library) {
                           std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes()));
                         } else {
                           limits::copy(from.as<float>(), to.as<float>(), from.count);
                         }
                       }});
    });
  }

 private:
  /// Memory that this rank's worker has touched first.
  Buffer zeroed(std::int64_t count, const char* name) {
    Buffer buffer = device_->allocate(DType::kFloat32, count, Category::kWorkspace, name, *stream_);
    stream_->launch({"zero", "", {}, {buffer.view()}, [view = buffer.view()] {
                       std::memset(view.data, 0, static_cast<std::size_t>(view.bytes()));
                     }});
    stream_->synchronize();
    return buffer;
  }

  template <class Work>
  double timed(const Work& work) {
    comm_->barrier(kTag);
    stream_->synchronize();
    return seconds_of([&] {
      work();
      stream_->synchronize();
    });
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Communicator> comm_;
  Buffer array_, from_, to_;
};

/// Replaces each sample by that of the slowest rank.
void keep_slowest(RankContext& ranks, std::vector<double>& samples) {
  const std::size_t bytes = samples.size() * sizeof(double);
  const std::string mine(reinterpret_cast<const char*>(samples.data()), bytes);
  for (const std::string& text : ranks.gather_texts(mine)) {
    std::vector<double> theirs(samples.size());
    std::memcpy(theirs.data(), text.data(), bytes);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::max(samples[i], theirs[i]);
  }
}

std::string size_text(std::int64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

/// The measurements of one world, on every rank alike.
class Measurement {
 public:
  Measurement(RankContext& ranks, const CollectivesSettings& settings, bool shares_memory)
      : ranks_(ranks),
        settings_(settings),
        shares_memory_(shares_memory),
        bench_(ranks, std::ranges::max(settings.bytes)) {}

  std::vector<Figure> run(Remarks& remarks) {
    for (const Case& c : kCases) {
      if (ranks_.rank() == 0) remarks.tell(fmt::format("collectives: {}", c.name));
      for (const std::int64_t bytes : settings_.bytes) bus_bandwidth(c, bytes);
    }
    if (!shares_memory_) return std::move(figures_);
    for (const Case& c : kCases) {
      for (const bool library : {false, true}) copy_limit(c, settings_.bytes.back(), library);
    }
    return std::move(figures_);
  }

 private:
  std::string world() const {
    return fmt::format("{} that are {}", counted(ranks_.world_size(), "rank"),
                       shares_memory_ ? "threads" : "processes");
  }

  void bus_bandwidth(const Case& c, std::int64_t bytes) {
    bench_.collective(c.op, bytes);
    std::vector<double> seconds;
    for (int i = 0; i < settings_.pairs; ++i) seconds.push_back(bench_.collective(c.op, bytes));
    keep_slowest(ranks_, seconds);
    const double array = 4 * static_cast<double>(bench_.padded(bytes));
    std::vector<double> microseconds;
    for (const double s : seconds) microseconds.push_back(1e6 * s);
    figures_.push_back({"collectives",
                        fmt::format("{}, {}", c.name, size_text(bytes)),
                        fmt::format("bus bandwidth between {}", world()),
                        "GB/s",
                        rate(1e-9 * array * bus_factor(c.op, ranks_.world_size()), seconds),
                        std::nullopt,
                        {{"time", "µs", spread_of(microseconds)}}});
  }

  void copy_limit(const Case& c, std::int64_t bytes, bool library) {
    TimePairs times = measure_pairs(
        settings_.pairs, [&] { return bench_.collective(c.op, bytes); },
        [&] { return bench_.copies(c.op, bytes, library); });
    keep_slowest(ranks_, times.a);
    keep_slowest(ranks_, times.b);
    const double array = 4 * static_cast<double>(bench_.padded(bytes));
    const double moved = 1e-9 * ranks_.world_size() * moved_bytes(c.op, ranks_.world_size(), array);
    std::optional<Goal> goal;
    if (c.op == CollectiveOp::kAllReduce) goal = Goal{0.8, std::nullopt, std::nullopt};
    figures_.push_back(
        {"collectives",
         fmt::format("{}, {}, {}", c.name, size_text(bytes), library ? "memcpy" : "copying loop"),
         fmt::format("rate of reading and writing over that of a copy, {}", world()),
         "",
         times.speed_ratio(),
         goal,
         {{c.name, "GB/s", rate(moved, times.a)},
          {library ? "memcpy" : "copying loop", "GB/s", rate(moved, times.b)}}});
  }

  RankContext& ranks_;
  const CollectivesSettings& settings_;
  const bool shares_memory_;
  Bench bench_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> bench_collectives(World& world, const CollectivesSettings& settings,
                                      Remarks& remarks) {
  std::vector<Figure> figures;
  // Ranks are threads of this process where one process speaks for all of them.
  std::atomic<int> in_this_process = 0;
  world.run([&](RankContext& ranks) {
    ++in_this_process;
    ranks.gather_texts("");  // all have counted themselves
    const bool shares_memory = in_this_process == ranks.world_size();
    Measurement measurement(ranks, settings, shares_memory);
    std::vector<Figure> mine = measurement.run(remarks);
    if (ranks.rank() == world.local_rank()) figures = std::move(mine);
  });
  return figures;
}

}  // namespace zerolab
