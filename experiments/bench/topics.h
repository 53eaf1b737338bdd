/// \file
/// The benchmarks, one function a topic. Their settings have the sizes of the documented figures;
/// tests use smaller ones.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/figure.h"
#include "experiments/config/run_config.h"
#include "stages/comm/world.h"

namespace zerolab {

/// One rank's whole training step (forward, backward, AdamW) against PyTorch's.
struct StepShape {
  std::string name;   ///< "S"
  std::string model;  ///< "gpt-tiny"
  std::int64_t batch = 1, time = 1;
  std::array<std::optional<Goal>, 2> goals;  ///< with 1 and 2 threads
  bool tuned_peer_too = false;               ///< also against PyTorch with its allocator tuned
};
/// S, M and L of docs/benchmarks.md.
std::vector<StepShape> step_shapes();
struct StepsSettings {
  std::vector<StepShape> shapes = step_shapes();
  std::vector<int> threads = {1, 2};
  int pairs = 7;
  double sample_seconds = 1;  ///< of one measurement, at least one step
};
std::vector<Figure> bench_steps(const StepsSettings& settings, Remarks& remarks);

/// DDP on several ranks against as many independent ranks; the ZeRO stages against DDP.
struct StagesSettings {
  std::string model = "gpt-small";
  std::int64_t batch = 4;
  int ranks = 2;
  int pairs = 7;
  double sample_seconds = 2;
};
std::vector<Figure> bench_stages(const StagesSettings& settings, Remarks& remarks);

/// The main job's stages with its default checks against none.
struct ChecksSettings {
  RunConfig config;
  int pairs = 3;
};
std::vector<Figure> bench_checks(const ChecksSettings& settings, Remarks& remarks);

/// One rank's step in bf16 against fp32, and with activation checkpoints against without.
struct RecipesSettings {
  std::vector<StepShape> shapes = step_shapes();
  int pairs = 5;
  double sample_seconds = 1;
};
std::vector<Figure> bench_recipes(const RecipesSettings& settings, Remarks& remarks);

/// Collectives between the ranks of `world`. Every process of the world calls it and gets the same
/// figures.
struct CollectivesSettings {
  /// Of the whole array; the last one also against the copy-bound limit, between threads.
  std::vector<std::int64_t> bytes = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
  int pairs = 9;
};
std::vector<Figure> bench_collectives(World& world, const CollectivesSettings& settings,
                                      Remarks& remarks);

/// Kernels against the limits of memory and of the arithmetic units.
struct KernelsSettings {
  std::vector<StepShape> shapes = step_shapes();
  std::vector<int> threads = {1, 2};
  std::int64_t adamw_elements = 1 << 24;
  int pairs = 9;
  double sample_seconds = 0.1;
};
std::vector<Figure> bench_kernels(const KernelsSettings& settings, Remarks& remarks);

/// The process's resident set against the ledgers; one rank's against what llm.c holds.
struct MemorySettings {
  std::string model = "gpt-small";
  std::int64_t batch = 4;
  int ranks = 2;
  struct SingleRank {
    StepShape shape;
    double llmc_mib = 0;  ///< recorded, see docs/benchmarks.md; 0: compared with nothing
  };
  std::vector<SingleRank> single_ranks;
};
/// With S, M and L for one rank.
MemorySettings memory_settings();
std::vector<Figure> bench_memory(const MemorySettings& settings, Remarks& remarks);

/// The planner's time model: step times predicted from products, memory and links that are measured
/// beside the steps, over the steps' own.
struct TimeModelSettings {
  std::string model = "gpt-small";
  std::int64_t batch = 4;
  int ranks = 2;
  int pairs = 5;
  double sample_seconds = 2;
};
std::vector<Figure> bench_time_model(const TimeModelSettings& settings, Remarks& remarks);

/// The whole `compare` as a process of its own: start, four stages, checks, report.
struct CompareSettings {
  std::string program = "/proc/self/exe";
  std::vector<std::string> options;  ///< after "compare"
  int samples = 1;
};
std::vector<Figure> bench_compare(const CompareSettings& settings, Remarks& remarks);

}  // namespace zerolab
