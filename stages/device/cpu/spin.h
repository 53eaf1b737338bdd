/// \file
/// How long a thread looks again before it sleeps.
#pragma once

#include <thread>

namespace zerolab {

/// About a microsecond: four ranks with three threads each share two cores, so a thread that spins
/// for longer takes the core from the one it waits for.
inline constexpr int kSpinTurns = 40;

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#else
  std::this_thread::yield();
#endif
}

}  // namespace zerolab
