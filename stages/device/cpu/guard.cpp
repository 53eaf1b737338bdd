#include "stages/device/cpu/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "stages/device/cpu/pages.h"
#include "stages/device/cpu/unseen.h"

namespace zerolab {
namespace {

std::byte* page_of(std::byte* address) {
  return address -
         reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(page_bytes());
}

void protect(std::byte* first_page, std::int64_t pages, int protection) {
  const auto bytes = static_cast<std::size_t>(pages * page_bytes());
  require(mprotect(first_page, bytes, protection) == 0,
          "[guard] the system refused to change the protection of {} bytes; raise "
          "vm.max_map_count or use a smaller model",
          bytes);
}

}  // namespace

Guard::Guard() : handler_(*this) {}

Guard::~Guard() = default;

int Guard::PageUsers::protection() const {
  if (writers > 0) return PROT_READ | PROT_WRITE;
  return readers > 0 ? PROT_READ : PROT_NONE;
}

void Guard::host_allocated(const Allocation& allocation, const Stream&) {
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  std::byte* first = page_of(allocation.data);
  const auto pages =
      round_up(allocation.data + allocation.bytes - first, page_bytes()) / page_bytes();
  auto [position, is_new] = regions_.try_emplace(first);
  Region& region = position->second;
  if (is_new) {
    region.pages.resize(static_cast<std::size_t>(pages));
    protect(first, pages + 1, PROT_NONE);  // and the page behind
  }
  region.data = allocation.data;
  region.bytes = allocation.bytes;
  region.name = allocation.name;
  region.dtype = allocation.dtype;
  region.freed = false;
}

void Guard::host_freed(const Allocation& allocation) {
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  const auto position = regions_.find(page_of(allocation.data));
  if (position != regions_.end()) position->second.freed = true;
}

void Guard::worker_begins(const Stream& stream, const Operation& operation) {
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  running_[stream.id()] = {gettid(), &operation, &stream.name()};
  for (const View& view : operation.reads) count(view, false, +1);
  for (const View& view : operation.writes) count(view, true, +1);
}

void Guard::worker_ended(const Stream& stream, const Operation& operation) {
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  running_.erase(stream.id());
  for (const View& view : operation.reads) count(view, false, -1);
  for (const View& view : operation.writes) count(view, true, -1);
}

void Guard::count(const View& view, bool writes, int change) {
  if (view.empty() || region_at(view.data) == nullptr) return;
  const auto position = std::prev(regions_.upper_bound(view.data));
  Region& region = position->second;
  std::byte* base = page_of(region.data);
  const auto first = (view.data - base) / page_bytes();
  const auto end = std::min((view.data + view.bytes() - 1 - base) / page_bytes() + 1,
                            static_cast<std::int64_t>(region.pages.size()));
  for (auto page = first; page < end;) {
    // One system call for each run of pages that change in the same way.
    auto run_end = page;
    int from = 0;
    int to = 0;
    for (; run_end < end; ++run_end) {
      PageUsers& users = region.pages[static_cast<std::size_t>(run_end)];
      PageUsers changed = users;
      (writes ? changed.writers : changed.readers) += change;
      if (run_end > page && (users.protection() != from || changed.protection() != to)) break;
      from = users.protection();
      to = changed.protection();
      users = changed;
    }
    if (from != to) protect(base + page * page_bytes(), run_end - page, to);
    page = run_end;
  }
}

const Guard::Region* Guard::region_at(const std::byte* address) const {
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  const auto& [first, region] = *std::prev(after);
  const auto pages = static_cast<std::int64_t>(region.pages.size()) + 1;  // and the page behind
  return address < first + pages * page_bytes() ? &region : nullptr;
}

std::size_t Guard::explain(const std::byte* address, bool is_write, std::span<char> text) const {
  // The faulting thread is in stream work or on the host, never in here, so the lock is free soon.
  const Unseen unseen;
  const std::lock_guard lock(mutex_);
  const Region* region = region_at(address);
  if (region == nullptr) return 0;
  char* out = text.data();
  const auto append = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    const auto left = static_cast<std::size_t>(text.data() + text.size() - out);
    out = fmt::format_to_n(out, left, format, std::forward<Args>(args)...).out;
  };
  const auto mine = std::find_if(running_.begin(), running_.end(),
                                 [](const auto& entry) { return entry.second.thread == gettid(); });
  append("[guard] ");
  if (mine != running_.end()) {
    const Running& running = mine->second;
    append("{} ({}) on stream '{}'", running.operation->name, running.operation->detail,
           *running.stream);
  } else {
    append("a thread outside stream work");
  }
  const auto element = (address - region->data) / static_cast<std::int64_t>(size_of(region->dtype));
  append(
      " {} element {} of {}'{}' ({}, {} elements), which it does not declare{}; add the view to "
      "the operation's {}\n",
      is_write ? "writes" : "reads", element, region->freed ? "the freed " : "", region->name,
      name_of(region->dtype), region->bytes / static_cast<std::int64_t>(size_of(region->dtype)),
      is_write ? " as written" : "", is_write ? "writes" : "reads");
  return static_cast<std::size_t>(out - text.data());
}

}  // namespace zerolab
