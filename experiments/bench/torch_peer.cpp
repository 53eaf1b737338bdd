#include "experiments/bench/torch_peer.h"

#include <cstdlib>
#include <filesystem>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr const char* kOpenMpBlas = "/usr/lib/x86_64-linux-gnu/openblas-openmp";

std::vector<std::string> command_of(const TorchSettings& s) {
  const std::string python = std::string(ZEROLAB_PYTHON).empty() ? "python3" : ZEROLAB_PYTHON;
  std::vector<std::string> command = {python, "-u", ZEROLAB_TORCH_STEPS};
  const auto add = [&](const char* name, std::int64_t value) {
    command.emplace_back(name);
    command.push_back(std::to_string(value));
  };
  add("--layers", s.model.layers);
  add("--channels", s.model.channels);
  add("--heads", s.model.heads);
  add("--max-time", s.model.max_time);
  add("--vocabulary", s.model.vocabulary);
  add("--batch", s.batch);
  add("--time", s.time);
  add("--threads", s.threads);
  if (s.tuned) command.emplace_back("--foreach");
  return command;
}

std::vector<std::pair<std::string, std::string>> environment_of(const TorchSettings& s) {
  std::vector<std::pair<std::string, std::string>> all = {
      {"OMP_NUM_THREADS", std::to_string(s.threads)}};
  if (std::filesystem::is_directory(kOpenMpBlas)) {
    const char* paths = std::getenv("LD_LIBRARY_PATH");
    const bool more = paths != nullptr && *paths != '\0';
    all.emplace_back("LD_LIBRARY_PATH",
                     more ? fmt::format("{}:{}", kOpenMpBlas, paths) : kOpenMpBlas);
  }
  if (s.tuned) {
    // Freed tensors stay in the heap instead of going back to the system and being faulted in
    // again.
    all.emplace_back("MALLOC_MMAP_THRESHOLD_", "4294967296");
    all.emplace_back("MALLOC_TRIM_THRESHOLD_", "17179869184");
    all.emplace_back("MALLOC_TOP_PAD_", "268435456");
  }
  return all;
}

}  // namespace

TorchPeer::TorchPeer(const TorchSettings& settings)
    : process_(command_of(settings), environment_of(settings)), name_(answer()) {}

double TorchPeer::train(std::int64_t steps) {
  process_.write_line(std::to_string(steps));
  return std::stod(answer());
}

std::string TorchPeer::answer() {
  const auto line = process_.read_line();
  if (!line) {
    fail("[bench] PyTorch ended without an answer; run experiments/bench/torch_steps.py by hand");
  }
  const std::string sign = "error: ";
  if (line->starts_with(sign)) fail("[bench] {}", line->substr(sign.size()));
  return *line;
}

}  // namespace zerolab
