#include "stages/device/order_checker.h"

#include <algorithm>
#include <iterator>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::size_t kKept = 100;

std::size_t slot_of(const Stream& stream) { return static_cast<std::size_t>(stream.id() + 1); }

std::string quoted(const OrderedAccess& access) {
  return fmt::format("{}{} on stream '{}'", access.operation,
                     access.detail.empty() ? "" : " (" + access.detail + ")", access.stream);
}

std::string list_of(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return "never";
  std::string text = "only for:";
  for (const std::string& reason : reasons) text += " '" + reason + "'";
  return text;
}

OrderedAccess outside(const Access& access) {
  return {access.operation, access.detail, access.stream, access.buffer, access.writes};
}

}  // namespace

std::string OrderViolation::describe() const {
  const std::string elements_text = fmt::format("elements [{}, {}) of '{}' ({})", elements.begin,
                                                elements.end, second.buffer, name_of(dtype));
  const char* verb = second.writes ? "writes" : "reads";
  if (kind == Kind::kUseAfterFree) {
    return fmt::format("[order] {} {} {} after the buffer was freed; free it later", quoted(second),
                       verb, elements_text);
  }
  const std::string reuse = first.buffer == second.buffer
                                ? ""
                                : fmt::format(" as part of '{}', freed since", first.buffer);
  return fmt::format(
      "[order] {} {} {} while {} may still {} them{}; no event orders the two, and '{}' has waited "
      "for '{}' {}",
      quoted(second), verb, elements_text, quoted(first), first.writes ? "write" : "read", reuse,
      second.stream, first.stream, list_of(wait_reasons));
}

void OrderChecker::throw_if_any() const {
  if (count_ == 0) return;
  fail("{} ({} such conflicts in all)", violations_.front().describe(), count_);
}

VectorClock& OrderChecker::clock_of(const Stream& stream) {
  if (slot_of(stream) >= streams_.size()) streams_.resize(slot_of(stream) + 1);
  return streams_[slot_of(stream)];
}

void OrderChecker::host_launched(const Stream& stream, const Operation& operation) {
  VectorClock& clock = clock_of(stream);
  clock.join(host_);  // what the host has waited for has ended before it queued this
  clock.tick(slot_of(stream));
  for (const View& view : operation.reads) {
    check(stream, operation.name, operation.detail, view, false);
  }
  for (const View& view : operation.writes) {
    check(stream, operation.name, operation.detail, view, true);
  }
}

void OrderChecker::host_recorded(const Stream& stream, const Event& event) {
  events_[event.id()] = {slot_of(stream), clock_of(stream), event.state()};
  if (events_.size() >= forget_at_) forget_events();
}

void OrderChecker::host_stream_waits(const Stream& stream, const Event& event, const char* reason) {
  const auto known = events_.find(event.id());
  if (known == events_.end()) return;
  clock_of(stream).join(known->second.clock);
  reasons_[{slot_of(stream), known->second.slot}].insert(reason);
}

void OrderChecker::host_waited(const Event& event) {
  const auto known = events_.find(event.id());
  if (known != events_.end()) host_.join(known->second.clock);
}

void OrderChecker::host_allocated(const Allocation& allocation, const Stream& first_user) {
  const std::byte* end = allocation.data + allocation.bytes;
  auto position = memory_.lower_bound(allocation.data);
  if (position != memory_.begin()) {
    const auto before = std::prev(position);
    const Allocation& old = before->second.allocation;
    if (old.data + old.bytes > allocation.data) position = before;
  }
  while (position != memory_.end() && position->first < end) position = memory_.erase(position);
  memory_[allocation.data] = {allocation, false};

  VectorClock& clock = clock_of(first_user);
  clock.join(host_);
  clock.tick(slot_of(first_user));
  const auto count = allocation.bytes / static_cast<std::int64_t>(size_of(allocation.dtype));
  check(first_user, "allocation", "first use", {allocation.data, allocation.dtype, count}, true);
}

void OrderChecker::host_freed(const Allocation& allocation) {
  const auto position = memory_.find(allocation.data);
  if (position != memory_.end()) position->second.freed = true;
}

void OrderChecker::check(const Stream& stream, const char* operation, const std::string& detail,
                         const View& view, bool writes) {
  if (view.empty()) return;
  const Memory* memory = memory_at(view.data);
  auto access = std::make_shared<Access>();
  access->operation = operation;
  access->detail = detail;
  access->stream = stream.name();
  access->buffer = memory != nullptr ? memory->allocation.name : "";
  access->slot = slot_of(stream);
  const VectorClock& clock = clock_of(stream);
  access->time = clock[access->slot];
  access->writes = writes;

  const Bytes all{view.data, view.data + view.bytes()};
  if (memory != nullptr && memory->freed) {
    OrderViolation violation;
    violation.kind = OrderViolation::Kind::kUseAfterFree;
    violation.first = {"free", "", "", memory->allocation.name, true};
    violation.second = outside(*access);
    report(std::move(violation), view, all);
  }
  for (const Conflict& conflict : history_.add(all, access, clock)) {
    OrderViolation violation;
    violation.first = outside(*conflict.earlier);
    violation.second = outside(*access);
    const auto reasons = reasons_.find({access->slot, conflict.earlier->slot});
    if (reasons != reasons_.end()) {
      violation.wait_reasons.assign(reasons->second.begin(), reasons->second.end());
    }
    report(std::move(violation), view, conflict.where);
  }
}

void OrderChecker::report(OrderViolation violation, const View& view, Bytes where) {
  ++count_;
  if (violations_.size() >= kKept) return;
  const Memory* memory = memory_at(view.data);
  const std::byte* base = memory != nullptr ? memory->allocation.data : view.data;
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  violation.dtype = view.dtype;
  violation.elements = {(where.begin - base) / size, (where.end - base + size - 1) / size};
  violations_.push_back(std::move(violation));
}

const OrderChecker::Memory* OrderChecker::memory_at(const std::byte* address) const {
  const auto after = memory_.upper_bound(address);
  if (after == memory_.begin()) return nullptr;
  const Memory& memory = std::prev(after)->second;
  return address < memory.allocation.data + memory.allocation.bytes ? &memory : nullptr;
}

void OrderChecker::forget_events() {
  std::erase_if(events_, [](const auto& entry) { return entry.second.state.expired(); });
  forget_at_ = std::max<std::size_t>(1024, 2 * events_.size());
}

}  // namespace zerolab
