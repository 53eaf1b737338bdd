// Let N be the ranks, T the tensors, Φ the padded flat space, and φ what a rank updates: Φ in DDP
// and on one rank, Φ/N in ZeRO.
//
//   LAMB  holds  4φ for the direction; for each tensor the largest |w| and |u| (4 bytes each),
//   three
//                fp64 folds of both sums of squares and the ratio: 60T; where ranks must agree, the
//                same of all ranks and their common maxima: 56TN + 8T
//         sends  as control, where ranks must agree: an all-gather of 2T int32 of each rank and one
//                of 6T fp64, 56T(N−1) bytes
//   Muon  holds  a scale for each tensor, 4T; for the matrices (m,n) that the rank computes, with
//                s = min(m,n), 4·max(mn) for the matrix and 4·max(mn + 2s²) for the iteration
//         sends  where matrices are cut: to a matrix's computer every other owner's elements, and
//                back. Computers: by falling cost s(2mn + s²), in turn
#include "experiments/predict/optimizer_prediction.h"

#include <algorithm>

#include "stages/core/error.h"

namespace zerolab {
namespace {

/// Parts of the flat space, one behind the other, that are cut into N equal slices each, one a
/// rank: buckets, or in ZeRO-3 a unit.
struct Pieces {
  std::int64_t begin = 0, length = 0, count = 1;
};

/// The flat space of a stage: where each unit begins, and its pieces.
class Cut {
 public:
  Cut(const std::string& stage, const Setting& setting)
      : by_unit_(stage == "zero3"), padded_(unit_lengths(setting)) {
    if (!by_unit_) buckets_ = equal_buckets(setting);
    std::int64_t begin = 0;
    for (std::size_t u = 0; u < padded_.size(); ++u) {
      unit_begin_.push_back(begin);
      begin += by_unit_ ? padded_[u] : setting.layout.units()[u].size;
    }
  }

  std::int64_t elements() const { return by_unit_ ? sum_of(padded_) : sum_of(buckets_); }

  std::int64_t begin_of(const ParameterLayout& layout, int tensor) const {
    return unit_begin_[static_cast<std::size_t>(layout.unit_of(tensor))] +
           layout.place_of(tensor).offset;
  }

  /// The pieces in which elements [begin, end) of a unit lie. Those that lie in it whole and are
  /// alike are counted, not listed.
  std::vector<Pieces> pieces(UnitId unit, std::int64_t begin, std::int64_t end) const {
    const auto u = static_cast<std::size_t>(unit);
    if (by_unit_) return {{unit_begin_[u], padded_[u]}};
    const std::int64_t length = buckets_.front().length, all = elements();
    const std::int64_t first_whole = round_up(begin, length);
    const std::int64_t whole = std::max<std::int64_t>(0, (end - first_whole) / length);
    std::vector<Pieces> found;
    if (begin < first_whole) {
      found.push_back({first_whole - length, std::min(length, all - first_whole + length)});
    }
    if (whole > 0) found.push_back({first_whole, length, whole});
    const std::int64_t rest = first_whole + whole * length;
    if (rest < end) found.push_back({rest, std::min(length, all - rest)});
    return found;
  }

 private:
  bool by_unit_;
  std::vector<std::int64_t> padded_;
  std::vector<EqualCuts> buckets_;
  std::vector<std::int64_t> unit_begin_;
};

bool shares_work(const std::string& stage, const Setting& setting) {
  return stage != "ddp" && setting.ranks() > 1;
}

struct Matrix {
  int tensor;
  std::int64_t count, shorter;
  int computer = 0;
};

std::vector<Matrix> matrices_of(const Setting& setting) {
  std::vector<Matrix> all;
  for (int t = 0; t < static_cast<int>(setting.layout.tensors().size()); ++t) {
    const TensorSpec& tensor = setting.layout.tensor(t);
    if (!tensor.hidden || tensor.frozen) continue;
    all.push_back({t, tensor.count(), std::min(tensor.shape[0], tensor.shape[1])});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, [](const Matrix& x) {
    return x.shorter * (2 * x.count + x.shorter * x.shorter);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].computer = static_cast<int>(i) % setting.ranks();
  }
  return all;
}

std::int64_t muon_bytes(const std::string& stage, const Setting& setting) {
  std::int64_t matrix = 0, iteration = 0;
  for (const Matrix& x : matrices_of(setting)) {
    if (shares_work(stage, setting) && x.computer != setting.rank) continue;
    matrix = std::max(matrix, x.count);
    iteration = std::max(iteration, x.count + 2 * x.shorter * x.shorter);
  }
  return 4 * (static_cast<std::int64_t>(setting.layout.tensors().size()) + matrix + iteration);
}

std::int64_t lamb_bytes(const std::string& stage, const Setting& setting) {
  const auto tensors = static_cast<std::int64_t>(setting.layout.tensors().size());
  const std::int64_t all = Cut(stage, setting).elements();
  if (!shares_work(stage, setting)) return 4 * all + 60 * tensors;
  const bool agree = setting.optimizer.lamb_norms == LambNorms::kTensor;
  return 4 * all / setting.ranks() + 60 * tensors +
         (agree ? 56 * tensors * setting.ranks() + 8 * tensors : 0);
}

/// `times` messages of `count` elements between the setting's rank and a peer, and their answers.
/// Only the two take part.
void add_pairs(CommLedger::Table& table, const Setting& setting, std::int64_t count, int peer,
               std::int64_t times) {
  const auto node = [&](int rank) { return setting.group.node[static_cast<std::size_t>(rank)]; };
  const GroupShape two{
      setting.group.wire, setting.group.reduction, {node(setting.rank), node(peer)}};
  for (const CollectiveOp op : {CollectiveOp::kSend, CollectiveOp::kRecv}) {
    table[static_cast<std::size_t>(Traffic::kTraining)][static_cast<std::size_t>(op)] +=
        times * predicted_volume(two, {op, count, DType::kFloat32, 1}, 0);
  }
}

void add_muon(CommLedger::Table& table, const Cut& cut, const Setting& setting) {
  for (const Matrix& x : matrices_of(setting)) {
    const std::int64_t first = cut.begin_of(setting.layout, x.tensor), end = first + x.count;
    for (const Pieces& pieces : cut.pieces(setting.layout.unit_of(x.tensor), first, end)) {
      const std::int64_t slice = pieces.length / setting.ranks();
      const auto exchange = [&](int owner, int peer) {
        const std::int64_t begin = pieces.begin + owner * slice;
        const std::int64_t count = std::min(begin + slice, end) - std::max(begin, first);
        if (count > 0) add_pairs(table, setting, count, peer, pieces.count);
      };
      if (setting.rank != x.computer) {
        exchange(setting.rank, x.computer);
        continue;
      }
      for (int owner = 0; owner < setting.ranks(); ++owner) {
        if (owner != x.computer) exchange(owner, owner);
      }
    }
  }
}

}  // namespace

std::vector<Category> optimizer_state_categories(const OptimizerSettings& optimizer) {
  // ZeRO paper, section 3.1: Adam keeps m and v; SGD its momentum, if it has any.
  for (const char* name : {"adamw", "lamb", "muon"}) {
    if (optimizer.name == name) return {Category::kFirstMoments, Category::kSecondMoments};
  }
  if (optimizer.name != "sgd") {
    bad_input(
        "[predict] there is no formula for the optimizer '{}'; known are adamw, sgd, lamb and muon",
        optimizer.name);
  }
  if (optimizer.momentum == 0) return {};
  return {Category::kFirstMoments};
}

std::int64_t optimizer_workspace_bytes(const std::string& stage, const Setting& setting) {
  if (setting.optimizer.name == "lamb") return lamb_bytes(stage, setting);
  if (setting.optimizer.name == "muon") return muon_bytes(stage, setting);
  return 0;
}

double optimizer_operations(const std::string& stage, const Setting& setting) {
  if (setting.optimizer.name != "muon") return 0;
  constexpr double kIterations = 5;
  double operations = 0;
  for (const Matrix& x : matrices_of(setting)) {
    if (shares_work(stage, setting) && x.computer != setting.rank) continue;
    const auto shorter = static_cast<double>(x.shorter);
    operations +=
        kIterations * 2 * shorter * (2 * static_cast<double>(x.count) + shorter * shorter);
  }
  return operations;
}

void add_optimizer_per_step(CommLedger::Table& table, const std::string& stage,
                            const Setting& setting) {
  if (!shares_work(stage, setting)) return;
  if (setting.optimizer.name == "muon") add_muon(table, Cut(stage, setting), setting);
  if (setting.optimizer.name != "lamb" || setting.optimizer.lamb_norms == LambNorms::kShard) return;
  const std::int64_t entries =
      2 * static_cast<std::int64_t>(setting.layout.tensors().size()) * setting.ranks();
  add_calls(table, setting, Traffic::kControl, CollectiveOp::kAllGather, DType::kInt32, entries);
  add_calls(table, setting, Traffic::kControl, CollectiveOp::kAllGather, DType::kFloat64,
            3 * entries);
}

}  // namespace zerolab
