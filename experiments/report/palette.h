/// \file
/// One colour and one pattern for each category of memory and each operation, in every picture.
#pragma once

#include <string>
#include <string_view>

#include "stages/comm/comm_ledger.h"
#include "stages/memory/category.h"

namespace zerolab {

/// Colours from Okabe and Ito's palette, which the colour-blind can tell apart; those that print to
/// a similar grey differ in their pattern.
struct Ink {
  const char* fill;     ///< "#0072b2"
  const char* text;     ///< readable on the fill
  const char* pattern;  ///< "", "diagonal", "cross", "plus", "back"
};

constexpr Ink ink_of(Category category) {
  switch (category) {
    case Category::kParameters:
      return {"#0072b2", "#ffffff", ""};
    case Category::kGradients:
      return {"#d55e00", "#ffffff", "diagonal"};
    case Category::kAccumulators:
      return {"#e69f00", "#000000", "cross"};
    case Category::kMasterWeights:
      return {"#56b4e9", "#000000", "cross"};
    case Category::kFirstMoments:
      return {"#009e73", "#ffffff", "plus"};
    case Category::kSecondMoments:
      return {"#f0e442", "#000000", "back"};
    case Category::kGatheredParameters:
      return {"#56b4e9", "#000000", ""};
    case Category::kGradientBuckets:
      return {"#e69f00", "#000000", "diagonal"};
    case Category::kUnitGradients:
      return {"#cc79a7", "#000000", "back"};
    case Category::kActivations:
      return {"#999999", "#000000", ""};
    case Category::kCommunicationStaging:
      return {"#555555", "#ffffff", "plus"};
    case Category::kWorkspace:
      return {"#cccccc", "#000000", "diagonal"};
    case Category::kChecks:
      return {"#eeeeee", "#000000", "cross"};
  }
  return {"#ffffff", "#000000", ""};
}

constexpr Ink ink_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllReduce:
      return {"#0072b2", "#ffffff", ""};
    case CollectiveOp::kReduceScatter:
      return {"#d55e00", "#ffffff", "diagonal"};
    case CollectiveOp::kAllGather:
      return {"#56b4e9", "#000000", "back"};
    default:
      return {"#999999", "#000000", "plus"};
  }
}

/// CSS classes: "hold-gradients", "move-all_gather".
inline std::string class_of(Category category) { return "hold-" + std::string(name_of(category)); }
inline std::string class_of(CollectiveOp op) { return "move-" + std::string(name_of(op)); }

/// The field's short names, for blocks too small for the long ones.
constexpr std::string_view short_name(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllReduce:
      return "AR";
    case CollectiveOp::kReduceScatter:
      return "RS";
    case CollectiveOp::kAllGather:
      return "AG";
    case CollectiveOp::kBroadcast:
      return "BC";
    case CollectiveOp::kAllToAll:
      return "A2A";
    case CollectiveOp::kSend:
      return "send";
    case CollectiveOp::kRecv:
      return "recv";
    case CollectiveOp::kBarrier:
      return "bar";
  }
  return "?";
}

}  // namespace zerolab
