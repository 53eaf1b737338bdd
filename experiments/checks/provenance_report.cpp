#include "experiments/checks/provenance_report.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "experiments/checks/ulp.h"
#include "experiments/runner/results.h"

namespace zerolab {
namespace {

/// Calls `report(begin, end, what)` for each longest run of elements of which `diagnose` says the
/// same; nullopt means that nothing is wrong.
template <class Diagnose, class Report>
void for_each_run(std::int64_t count, Diagnose&& diagnose, Report&& report) {
  std::int64_t begin = 0;
  auto present = count > 0 ? diagnose(0) : decltype(diagnose(0)){};
  for (std::int64_t i = 1; i <= count; ++i) {
    auto next = i < count ? diagnose(i) : decltype(diagnose(0)){};
    if (i < count && next == present) continue;
    if (present) report(begin, i, *present);
    begin = i;
    present = std::move(next);
  }
}

std::string list(const std::vector<std::string>& items) {
  constexpr std::size_t kShown = 4;
  std::string text;
  const std::size_t shown = std::min(items.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == items.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + items[i];
  }
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

const char* verb(const std::vector<std::string>& items) { return items.size() == 1 ? "is" : "are"; }

}  // namespace

std::string ProvenanceReport::contributor(int index) const {
  return fmt::format("rank {}'s micro-batch {}", index % ranks_, index / ranks_);
}

bool ProvenanceReport::visits(int index, int tensor) const {
  return visited_[static_cast<std::size_t>(index / ranks_)][static_cast<std::size_t>(tensor)];
}

std::string ProvenanceReport::explain_digits(float value, int first, int tensor,
                                             const std::string& where) const {
  const auto digits = contributor_digits(value);
  if (!digits) {
    return fmt::format("{:g}, which no contributors' codes add up to, is in {}", value, where);
  }
  std::vector<std::string> missing, counted;
  for (int digit = 0; digit < kMostContributorsPerPass; ++digit) {
    const int times = (*digits)[static_cast<std::size_t>(digit)];
    const int index = first + digit;
    if (digit >= per_pass_ || index >= contributors_) {
      if (times > 0) counted.push_back(fmt::format("a contributor that wrote nothing"));
    } else if (!visits(index, tensor)) {
      if (times > 0) counted.push_back(contributor(index) + ", which bypasses it,");
    } else if (times == 0) {
      missing.push_back(contributor(index));
    } else if (times > 1) {
      counted.push_back(fmt::format("{} ({} times)", contributor(index), times));
    }
  }
  std::string text;
  if (!missing.empty()) {
    text = fmt::format("{} {} missing from {}", list(missing), verb(missing), where);
  }
  if (!counted.empty()) {
    text += fmt::format("{}{} {} counted too often in {}", text.empty() ? "" : "; ", list(counted),
                        verb(counted), where);
  }
  return text;
}

void ProvenanceReport::check_contributors(const std::vector<OwnedCodes>& owned, int first) {
  const int last = std::min(first + per_pass_, contributors_);
  for (const OwnedCodes& codes : owned) {
    float expected = 0;
    for (int index = first; index < last; ++index) {
      if (visits(index, codes.tensor)) expected += contributor_code(index - first);
    }
    for_each_run(
        static_cast<std::int64_t>(codes.values.size()),
        [&](std::int64_t i) -> std::optional<std::uint32_t> {
          const float value = codes.values[static_cast<std::size_t>(i)];
          if (same_bits(value, expected)) return std::nullopt;
          return std::bit_cast<std::uint32_t>(value);
        },
        [&](std::int64_t begin, std::int64_t end, std::uint32_t bits) {
          const std::string where =
              fmt::format("{} of {}", describe_elements(codes.begin + begin, codes.begin + end),
                          layout_.tensor(codes.tensor).name);
          add(kFingerprintPhases[0], codes.tensor, codes.begin + begin,
              explain_digits(std::bit_cast<float>(bits), first, codes.tensor, where));
        });
  }
}

void ProvenanceReport::check_placement(const std::vector<OwnedCodes>& first,
                                       const std::vector<OwnedCodes>& second, int begin, int end) {
  if (first.size() != second.size()) {
    add(kFingerprintPhases[0], -1, -1, "the owned slices change from one step to the next");
    return;
  }
  struct Displaced {
    bool decoded = false;
    std::int64_t by = 0;  // the number that is here minus the one that should be
    bool operator==(const Displaced&) const = default;
  };
  for (std::size_t slice = 0; slice < first.size(); ++slice) {
    const OwnedCodes& a = first[slice];
    const OwnedCodes& b = second[slice];
    int writers = 0;
    for (int index = begin; index < end; ++index) writers += visits(index, a.tensor) ? 1 : 0;
    const auto number = [&](std::int64_t i) { return numbers_.of(a.tensor, a.begin + i); };
    for_each_run(
        static_cast<std::int64_t>(std::min(a.values.size(), b.values.size())),
        [&](std::int64_t i) -> std::optional<Displaced> {
          const float in_a = a.values[static_cast<std::size_t>(i)];
          const float in_b = b.values[static_cast<std::size_t>(i)];
          const auto times = static_cast<float>(writers);
          if (same_bits(in_a, times * placement_code(number(i), kPlacementModuli[0])) &&
              same_bits(in_b, times * placement_code(number(i), kPlacementModuli[1]))) {
            return std::nullopt;
          }
          const auto found = placed_number(in_a, in_b, writers, number(i), numbers_.count());
          return found ? Displaced{true, *found - number(i)} : Displaced{};
        },
        [&](std::int64_t from, std::int64_t to, Displaced displaced) {
          const std::string where =
              fmt::format("{} of {}", describe_elements(a.begin + from, a.begin + to),
                          layout_.tensor(a.tensor).name);
          add(kFingerprintPhases[0], a.tensor, a.begin + from,
              writers == 0
                  ? fmt::format("{} {} {:g} and following, where no micro-batch wrote anything",
                                where, hold(from, to), a.values[static_cast<std::size_t>(from)])
              : displaced.by
                  ? fmt::format("{} {} the gradients of {} and following", where, hold(from, to),
                                numbers_.describe(number(from) + displaced.by))
                  : fmt::format(
                        "{} {} {:g} and following, which is not {} times any element's code", where,
                        hold(from, to), a.values[static_cast<std::size_t>(from)], writers));
        });
  }
}

void ProvenanceReport::check_reading(const ProvenanceModel::Reading& reading, std::int64_t step) {
  struct Wrong {
    bool decoded = false;
    Displacement offset;
    bool operator==(const Wrong&) const = default;
  };
  const UnitLayout& unit = layout_.unit(reading.use.unit);
  for (const bool frozen : {false, true}) {
    const std::size_t got = (frozen ? reading.frozen : reading.trained).size();
    const auto whole = static_cast<std::size_t>(frozen ? unit.frozen_size : unit.size);
    if (got >= whole) continue;
    add(kFingerprintPhases[1], -1, -1,
        fmt::format("rank {} is handed {} of the {} elements of {} that are {} in the {} pass of "
                    "step {}",
                    rank_, got, whole, unit.name, frozen ? "frozen" : "trained",
                    name_of(reading.use.phase), step));
    return;
  }
  for (const TensorPlace& place : unit.places) {
    const bool frozen = layout_.tensor(place.tensor).frozen;
    const float* const values = (frozen ? reading.frozen : reading.trained).data() + place.offset;
    // Frozen elements stay as they were before the first step.
    const std::int64_t last_update = frozen ? 0 : step - 1;
    const auto number = [&](std::int64_t i) { return numbers_.of(place.tensor, i); };
    for_each_run(
        layout_.tensor(place.tensor).count(),
        [&](std::int64_t i) -> std::optional<Wrong> {
          if (same_bits(values[i], codes_.code(number(i), last_update))) return std::nullopt;
          const auto found = codes_.explain(values[i], number(i), last_update);
          return found ? Wrong{true, *found} : Wrong{};
        },
        [&](std::int64_t begin, std::int64_t end, Wrong wrong) {
          std::string message =
              fmt::format("rank {} reads {} of {} in the {} pass of step {}", rank_,
                          describe_elements(begin, end), layout_.tensor(place.tensor).name,
                          name_of(reading.use.phase), step);
          if (!wrong.decoded) {
            message += fmt::format(" as {:g}, which no owner wrote", values[begin]);
          } else if (wrong.offset.number != 0) {
            message += fmt::format(" and gets {} and following",
                                   numbers_.describe(number(begin) + wrong.offset.number));
          } else {
            message += fmt::format(" as they were after step {}, not as step {} left them",
                                   last_update + wrong.offset.step, last_update);
          }
          add(kFingerprintPhases[1], place.tensor, begin, std::move(message));
        });
  }
}

void ProvenanceReport::add(const char* phase, int tensor, std::int64_t element,
                           std::string message) {
  Finding finding;
  finding.check = "PROV";
  finding.phase = phase;
  if (tensor >= 0) finding.tensor = layout_.tensor(tensor).name;
  finding.rank = rank_;
  finding.element = element;
  finding.message = std::move(message);
  if (phase == kFingerprintPhases[0]) {
    finding.message += fmt::format(" in what rank {} owns", rank_);
  }
  findings_.add(std::move(finding));
}

}  // namespace zerolab
