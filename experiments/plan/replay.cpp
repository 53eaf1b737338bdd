#include "experiments/plan/replay.h"

#include <algorithm>
#include <array>
#include <queue>

#include "stages/core/error.h"
#include "stages/core/philox.h"

namespace zerolab {
namespace {

/// A stream of a rank that can go on at a time.
struct Event {
  double time = 0;
  int rank = 0;
  int stream = 0;
  bool operator>(const Event& other) const { return time > other.time; }
};

/// How many ranks have come to a collective, and when the last one did.
struct Meeting {
  int arrived = 0;
  double last = 0;
};

class Simulation {
 public:
  Simulation(const StepProgram& program, const ReplaySettings& settings)
      : program_(program),
        settings_(settings),
        meetings_(program.operations.size()),
        states_(static_cast<std::size_t>(settings.ranks)) {
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      streams_[program.operations[i].stream].push_back(i);
      for (const std::size_t other : program.operations[i].waits) {
        require(other < i, "[replay] operation {} waits for a later one", i);
      }
    }
    result_.ranks.resize(states_.size());
    for (std::size_t r = 0; r < states_.size(); ++r) {
      result_.ranks[r].operations.resize(program.operations.size());
      states_[r].done.resize(program.operations.size(), false);
    }
  }

  Replay run() {
    for (int rank = 0; rank < settings_.ranks; ++rank) {
      for (const int stream : {0, 1}) push(0, rank, stream);
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      advance(event);
    }
    finish();
    return std::move(result_);
  }

 private:
  struct RankState {
    std::array<std::size_t, 2> next{};  ///< position in each stream
    std::array<bool, 2> busy{};
    std::array<double, 2> free{};
    std::vector<bool> done;
  };

  void push(double time, int rank, int stream) { events_.push({time, rank, stream}); }

  RankState& state(int rank) { return states_[static_cast<std::size_t>(rank)]; }
  ReplayedOperation& record(int rank, std::size_t operation) {
    return result_.ranks[static_cast<std::size_t>(rank)].operations[operation];
  }

  /// Begins the stream's next operation if it is free and nothing is waited for.
  void advance(const Event& event) {
    RankState& s = state(event.rank);
    const auto stream = static_cast<std::size_t>(event.stream);
    const std::vector<std::size_t>& order = streams_[stream];
    if (s.busy[stream] || s.next[stream] == order.size()) return;
    const std::size_t index = order[s.next[stream]];
    const StepOperation& operation = program_.operations[index];
    double begin = s.free[stream];
    for (const std::size_t other : operation.waits) {
      if (!s.done[other]) return;  // whoever ends it wakes this stream
      begin = std::max(begin, record(event.rank, other).end);
    }
    // What is waited for may end at a time that the queue has not come to yet.
    if (begin > event.time) return push(begin, event.rank, event.stream);
    s.busy[stream] = true;
    record(event.rank, index) = {static_cast<std::uint32_t>(index), begin, begin, begin};
    if (operation.collective) {
      arrive(index, begin);
    } else {
      end(event.rank, index, begin, begin + own_seconds(event.rank, index));
    }
  }

  double own_seconds(int rank, std::size_t index) const {
    double seconds = program_.operations[index].seconds;
    if (!settings_.slowness.empty()) {
      seconds *= settings_.slowness[static_cast<std::size_t>(rank)];
    }
    if (settings_.jitter > 0) {
      const auto drawn =
          philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(rank), 0, 0},
                 {static_cast<std::uint32_t>(settings_.seed),
                  static_cast<std::uint32_t>(settings_.seed >> 32U)});
      seconds *= 1 + settings_.jitter * static_cast<double>(drawn[0]) / 4294967296.0;
    }
    return seconds;
  }

  void arrive(std::size_t index, double time) {
    Meeting& meeting = meetings_[index];
    meeting.last = std::max(meeting.last, time);
    if (++meeting.arrived < settings_.ranks) return;
    const double finish = meeting.last + program_.operations[index].seconds;
    for (int rank = 0; rank < settings_.ranks; ++rank) end(rank, index, meeting.last, finish);
  }

  void end(int rank, std::size_t index, double start, double finish) {
    RankState& s = state(rank);
    const auto stream = static_cast<std::size_t>(program_.operations[index].stream);
    ReplayedOperation& operation = record(rank, index);
    operation.start = start;
    operation.end = finish;
    s.done[index] = true;
    s.busy[stream] = false;
    s.free[stream] = finish;
    ++s.next[stream];
    for (const int any : {0, 1}) push(finish, rank, any);
  }

  void finish() {
    for (RankReplay& rank : result_.ranks) {
      double last = 0;
      for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        const ReplayedOperation& operation = rank.operations[i];
        if (program_.operations[i].collective) {
          rank.waiting_seconds += operation.start - operation.begin;
        } else {
          rank.compute_seconds += operation.end - operation.begin;
          last = std::max(last, operation.end);
        }
      }
      rank.exposed_seconds = last - rank.compute_seconds;
      result_.seconds = std::max(result_.seconds, last);
    }
    for (const std::size_t update : program_.updates) {
      double latest = 0;
      for (const RankReplay& rank : result_.ranks) {
        latest = std::max(latest, rank.operations[update].end);
      }
      result_.step_ends.push_back(latest);
    }
  }

  const StepProgram& program_;
  const ReplaySettings& settings_;
  std::array<std::vector<std::size_t>, 2> streams_;
  std::vector<Meeting> meetings_;
  std::vector<RankState> states_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Replay result_;
};

}  // namespace

Replay replay(const StepProgram& program, const ReplaySettings& settings) {
  require(settings.ranks >= 1, "[replay] {} ranks were asked for", settings.ranks);
  require(settings.slowness.empty() ||
              settings.slowness.size() == static_cast<std::size_t>(settings.ranks),
          "[replay] {} ranks but {} of them have a speed", settings.ranks,
          settings.slowness.size());
  return Simulation(program, settings).run();
}

}  // namespace zerolab
