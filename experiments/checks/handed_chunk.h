/// \file
/// Gradients of all ranks, as they travelled, element by element.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "experiments/checks/expected_sum.h"
#include "stages/core/error.h"
#include "stages/core/view.h"

namespace zerolab {

/// What all ranks handed over of a chunk of the sample: from each rank one text, reduction after
/// reduction.
class HandedChunk {
 public:
  HandedChunk(std::vector<std::string> texts, std::size_t reductions, Range chunk)
      : texts_(std::move(texts)), chunk_(chunk), terms_(reductions), copies_(reductions) {
    for (const std::string& text : texts_) {
      require(text.size() == reductions * bytes(chunk.size()),
              "[checks] a rank handed over {} bytes of gradients, this rank {}", text.size(),
              reductions * bytes(chunk.size()));
    }
  }

  static std::size_t bytes(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(float);
  }

  /// The terms of the elements in `part` of the chunk, valid until the next call.
  const SumTerms& terms(Range part) {
    for (std::size_t m = 0; m < terms_.size(); ++m) {
      copies_[m].resize(texts_.size());
      terms_[m].clear();
      for (std::size_t r = 0; r < texts_.size(); ++r) {
        std::vector<float>& copy = copies_[m][r];
        copy.resize(static_cast<std::size_t>(part.size()));
        const std::size_t place = m * bytes(chunk_.size()) + bytes(part.begin - chunk_.begin);
        std::memcpy(copy.data(), texts_[r].data() + place, bytes(part.size()));
        terms_[m].emplace_back(copy);
      }
    }
    return terms_;
  }

 private:
  std::vector<std::string> texts_;
  Range chunk_;
  SumTerms terms_;
  std::vector<std::vector<std::vector<float>>> copies_;  // by reduction and rank
};

}  // namespace zerolab
