#include "stages/device/jitter.h"

#include <thread>

namespace zerolab {
namespace {

/// Mixes all bits of x into all bits of the result (the finalizer of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace

Jitter::Jitter(std::uint64_t seed, int rank, std::chrono::microseconds longest)
    : seed_(mix(seed ^ mix(static_cast<std::uint64_t>(rank)))), longest_(longest) {}

void Jitter::worker_begins(const Stream& stream, const Operation&) { sleep(stream); }

void Jitter::worker_waits(const Stream& stream, const char*) { sleep(stream); }

std::chrono::microseconds Jitter::delay(int stream_id, std::uint64_t index) const {
  const std::uint64_t draw = mix(seed_ ^ mix(mix(static_cast<std::uint64_t>(stream_id)) + index));
  if (draw % 4 != 0) return std::chrono::microseconds(0);
  const auto choices = static_cast<std::uint64_t>(longest_.count()) + 1;
  return std::chrono::microseconds(static_cast<std::int64_t>((draw >> 2) % choices));
}

void Jitter::sleep(const Stream& stream) {
  Counter& counter = counters_[static_cast<std::size_t>(stream.id() + 1)];
  const auto time = delay(stream.id(), counter.next++);
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

}  // namespace zerolab
