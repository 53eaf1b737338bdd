#include "experiments/bench/machine.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <thread>

#include "experiments/compare/environment.h"
#include "experiments/report/words.h"

namespace zerolab {

std::string Machine::text() const {
  return fmt::format("{}, {} with {} of memory, {}; {}, {}; load {:.1f} before the measurement",
                     environment.cpu, counted(cores, "core"), bytes_text(memory_bytes),
                     environment.os, environment.compiler, environment.flags, load);
}

Machine this_machine() {
  Machine machine;
  machine.environment = this_environment();
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  struct sysinfo info {};
  if (sysinfo(&info) == 0) {
    machine.memory_bytes = static_cast<std::int64_t>(info.totalram) * info.mem_unit;
    machine.load = static_cast<double>(info.loads[0]) / (1 << SI_LOAD_SHIFT);
  }
  return machine;
}

bool busy(const Machine& machine) { return machine.load > 0.3 * machine.cores; }

}  // namespace zerolab
