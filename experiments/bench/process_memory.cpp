#include "experiments/bench/process_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr const char* kStatus = "/proc/self/status";
constexpr const char* kClearReferences = "/proc/self/clear_refs";

}  // namespace

std::int64_t peak_resident_bytes() {
  std::ifstream status(kStatus);
  const std::string key = "VmHWM:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size())) * 1024;
  }
  fail("[bench] {} names no VmHWM; memory can only be measured on Linux with /proc", kStatus);
}

std::int64_t reset_peak_resident() {
  malloc_trim(0);
  std::ofstream references(kClearReferences);
  references << "5" << std::flush;  // proc(5): resets the peak
  if (!references) {
    fail("[bench] {} cannot be written; the peak of the resident set cannot be measured here",
         kClearReferences);
  }
  return peak_resident_bytes();
}

}  // namespace zerolab
