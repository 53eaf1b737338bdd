#include "experiments/cli/save_weights.h"

#include <algorithm>
#include <vector>

#include "experiments/checks/pack.h"

namespace zerolab {
namespace {

/// Elements of a slice that travel at once.
constexpr std::int64_t kPiece = std::int64_t{1} << 20;

}  // namespace

SaveWeights::SaveWeights(const CheckContext& context, const std::string& path) : context_(context) {
  if (context.ranks.rank() != 0) return;
  writer_ = std::make_unique<WeightsWriter>(context.model.layout(), path);
}

void SaveWeights::ended(Stage& stage) {
  // In mixed precision the parameters are a rounded copy of the master weights, where there are
  // any.
  const bool mixed = context_.config.precision != "fp32";
  const std::vector<TensorSpec>& tensors = context_.model.layout().tensors();
  const bool frozen = std::ranges::any_of(tensors, &TensorSpec::frozen);
  // Slices of a stage are equally many and equally large on all ranks, so all ranks meet.
  if (!mixed || frozen) {
    stage.visit_owned(Category::kParameters, [&](const OwnedSlice& slice) {
      hand_over(slice, [&](const TensorSpec& tensor) { return !mixed || tensor.frozen; });
    });
  }
  if (mixed) {
    stage.visit_owned(Category::kMasterWeights, [&](const OwnedSlice& slice) {
      hand_over(slice, [](const TensorSpec&) { return true; });
    });
  }
  if (writer_) writer_->finish();
}

void SaveWeights::hand_over(const OwnedSlice& slice,
                            const std::function<bool(const TensorSpec&)>& wanted) {
  for (std::int64_t begin = 0; begin < slice.values.count; begin += kPiece) {
    const Range piece{begin, std::min(begin + kPiece, slice.values.count)};
    std::vector<float> values(static_cast<std::size_t>(piece.size()));
    context_.kernels.download_fp32(context_.compute, slice.values.slice(piece), values.data());
    context_.compute.synchronize();

    std::string text;
    const bool mine = !slice.replicated || context_.ranks.rank() == 0;
    for (const Segment& s : slice.segments) {
      const Range part = intersect(piece, {s.flat_begin, s.flat_begin + s.count});
      if (!mine || part.empty() || !wanted(context_.model.layout().tensor(s.tensor))) continue;
      pack(text, s.tensor);
      pack(text, s.tensor_begin + part.begin - s.flat_begin);
      pack_all(text, std::span<const float>(values).subspan(
                         static_cast<std::size_t>(part.begin - piece.begin),
                         static_cast<std::size_t>(part.size())));
    }
    const std::vector<std::string> all = context_.ranks.gather_texts(text);
    if (!writer_) continue;
    for (const std::string& packed : all) write(packed);
  }
}

void SaveWeights::write(const std::string& packed) {
  for (Unpacker parts(packed); !parts.empty();) {
    const auto tensor = parts.take<int>();
    const auto first = parts.take<std::int64_t>();
    const std::vector<float> values = parts.take_all<float>();
    writer_->write(tensor, {first, first + static_cast<std::int64_t>(values.size())},
                   values.data());
  }
}

}  // namespace zerolab
