#include "experiments/compare/environment.h"

#include <fmt/chrono.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <xxhash.h>

#include <Eigen/Core>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "stages/comm/world.h"

namespace zerolab {
namespace {

/// What follows the key and `separator` on the first line of the file that begins with the key.
std::string value_in(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::string value = line.substr(line.find(separator) + 1);
    while (value.starts_with(' ') || value.starts_with('"')) value.erase(0, 1);
    while (value.ends_with('"')) value.pop_back();
    return value;
  }
  return "unknown";
}

/// The binary's own bytes: any change of code or flags is another key.
std::string hash_of_binary() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  XXH64_state_t* state = XXH64_createState();
  XXH64_reset(state, 0);
  std::vector<char> chunk(1 << 20);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    XXH64_update(state, chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  const std::uint64_t hash = XXH64_digest(state);
  XXH64_freeState(state);
  return fmt::format("{:016x}", hash);
}

std::string eigen_version() {
  return fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

/// What the compiler was allowed to use.
std::string instruction_set() {
  std::string set = "baseline";
#if defined(__AVX512F__)
  set = "AVX-512";
#elif defined(__AVX2__)
  set = "AVX2";
#elif defined(__AVX__)
  set = "AVX";
#elif defined(__ARM_NEON)
  set = "NEON";
#endif
#if defined(__FMA__)
  set += " FMA";
#endif
  return set;
}

/// The C library, and what it chooses its mathematical functions by when the program starts.
std::string mathematics() {
  std::string text = fmt::format("glibc {}", gnu_get_libc_version());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) text += " fma";
  if (__builtin_cpu_supports("avx2")) text += " avx2";
  if (__builtin_cpu_supports("avx512f")) text += " avx512f";
#endif
  return text;
}

std::string operating_system() {
  utsname name{};
  const bool known = uname(&name) == 0;
  return fmt::format("{}, {} {}", value_in("/etc/os-release", "PRETTY_NAME", '='),
                     known ? name.sysname : "unknown", known ? name.release : "kernel");
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string flags() {
#ifdef ZEROLAB_SANITIZE_NAME
  return ZEROLAB_BUILD ", sanitizer " ZEROLAB_SANITIZE_NAME;
#else
  return ZEROLAB_BUILD;
#endif
}

}  // namespace

Environment this_environment() {
  Environment environment;
  environment.version = ZEROLAB_VERSION;
  environment.compiler = compiler();
  environment.flags = flags();
  environment.cpu = value_in("/proc/cpuinfo", "model name", ':');
  environment.os = operating_system();
  environment.eigen = eigen_version();
  environment.mpi = built_with_mpi() ? "yes" : "built without";
  environment.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  environment.key = fmt::format("binary {}, {}, Eigen {}, {}", hash_of_binary(), instruction_set(),
                                environment.eigen, mathematics());
  return environment;
}

}  // namespace zerolab
