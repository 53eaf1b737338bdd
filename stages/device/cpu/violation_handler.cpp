#include "stages/device/cpu/violation_handler.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "stages/core/error.h"
#include "stages/device/cpu/guard.h"

namespace zerolab {
namespace {

constexpr int kExitFailure = 3;

// A signal handler is the process's, so its state is the project's one global.
std::array<std::atomic<const Guard*>, 1024> guards;
std::mutex installing;
int installed = 0;
struct sigaction before;

bool was_write(const void* context) {
#if defined(__x86_64__)
  const auto* user = static_cast<const ucontext_t*>(context);
  return (user->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  static_cast<void>(context);
  return false;
#endif
}

void on_fault(int, siginfo_t* info, void* context) {
  std::array<char, 1024> text;
  for (const auto& slot : guards) {
    const Guard* guard = slot.load();
    if (guard == nullptr) continue;
    const std::size_t length =
        guard->explain(static_cast<const std::byte*>(info->si_addr), was_write(context), text);
    if (length > 0) {
      static_cast<void>(!write(STDERR_FILENO, text.data(), length));
      _exit(kExitFailure);
    }
  }
  sigaction(SIGSEGV, &before, nullptr);  // not ours: the access faults again, there
}

}  // namespace

ViolationHandler::ViolationHandler(const Guard& guard) : guard_(guard) {
  const std::lock_guard lock(installing);
  const auto slot = std::find(guards.begin(), guards.end(), nullptr);
  require(slot != guards.end(), "[guard] {} guarded devices live already; that is the most",
          guards.size());
  slot->store(&guard);
  if (installed++ > 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
}

ViolationHandler::~ViolationHandler() {
  const std::lock_guard lock(installing);
  std::find(guards.begin(), guards.end(), &guard_)->store(nullptr);
  if (--installed == 0) sigaction(SIGSEGV, &before, nullptr);
}

}  // namespace zerolab
