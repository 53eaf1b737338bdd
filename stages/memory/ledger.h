/// \file
/// Bytes held on one rank, by category, over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stages/memory/category.h"

namespace zerolab {

/// One allocation or free, in host order.
struct MemoryEvent {
  std::int64_t time_ns = 0;  ///< steady clock
  std::string name;          ///< the allocation's name, e.g. "gathered h.3"
  Category category{};
  std::int64_t bytes = 0;        ///< positive when allocated, negative when freed
  std::int64_t total_bytes = 0;  ///< held after the event, all categories
  std::string moment;            ///< what the rank was doing, e.g. "step 3 backward h.2"
};

/// A turn to something new while events were recorded: `events()[first_event]` and later ones
/// happened in it, up to the next.
struct MemoryMoment {
  std::string name;
  std::int64_t first_event = 0;
};

/// Counts requested bytes where they are allocated and freed, in host order, so that peaks do not
/// depend on timing. One per rank; used from the rank's host thread only.
class MemoryLedger {
 public:
  void allocated(const std::string& name, Category category, std::int64_t bytes);
  void freed(const std::string& name, Category category, std::int64_t bytes);

  /// What the rank does now; stamped on later events ("step 3 backward h.2").
  void set_moment(std::string moment);

  std::int64_t held(Category category) const { return held_[static_cast<std::size_t>(category)]; }
  const CategoryBytes& held() const { return held_; }
  /// Largest bytes held in the category at any time since the last `reset_peaks`.
  const CategoryBytes& peak() const { return peak_; }
  /// Largest total over all categories except `kChecks`, and what was held at that moment.
  std::int64_t peak_total() const { return peak_total_; }
  const CategoryBytes& at_peak() const { return at_peak_; }
  const std::string& peak_moment() const { return peak_moment_; }
  void reset_peaks();

  /// Keep the list of events from now on (off by default: it grows with every step).
  void record_events(bool on);
  const std::vector<MemoryEvent>& events() const { return events_; }
  /// What the rank did while events were recorded, whether or not memory changed.
  const std::vector<MemoryMoment>& moments() const { return moments_; }

 private:
  void changed(const std::string& name, Category category, std::int64_t bytes);

  CategoryBytes held_{};
  CategoryBytes peak_{};
  CategoryBytes at_peak_{};
  std::int64_t total_ = 0;  // without kChecks
  std::int64_t peak_total_ = 0;
  std::string peak_moment_;
  std::string moment_;
  bool recording_ = false;
  std::vector<MemoryEvent> events_;
  std::vector<MemoryMoment> moments_;
};

}  // namespace zerolab
