// DeepSpeed #7998, Megatron-LM #2218: a path that only some ranks take changes the order of their
// collectives. NCCL hangs or mixes up data; a checked communicator must say which rank made which
// call.
#include <functional>

#include "experiments/faults/faults.h"
#include "experiments/faults/forwarding_communicator.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

/// Exchanges its first reduce-scatter with the reduction or gathering that follows.
class SwappingCommunicator final : public ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;

  void reduce_scatter(View input, View output, const CallTag& tag) override {
    if (!swapped_ && !late_) {
      late_ = [this, input, output, tag] { inner().reduce_scatter(input, output, tag); };
      return;
    }
    inner().reduce_scatter(input, output, tag);
    catch_up();
  }
  void all_gather(View input, View output, const CallTag& tag) override {
    inner().all_gather(input, output, tag);
    catch_up();
  }

 private:
  void catch_up() {
    if (!late_) return;
    swapped_ = true;
    std::exchange(late_, nullptr)();
  }

  std::function<void()> late_;
  bool swapped_ = false;
};

FaultLabel label() {
  FaultLabel label;
  label.name = "rank-dependent-collectives";
  label.source = "DeepSpeed #7998, Megatron-LM #2218";
  label.stage = "zero2";
  label.happened =
      "The last rank takes another path through the code and issues two collectives in exchanged "
      "order.";
  label.seen = "All ranks wait for ever, or sums contain another bucket's gradients.";
  label.needs = {"--bucket-mb 0.04"};  // two reduce-scatters to exchange
  label.must_fire = {{"COMM", false, -1, "collective", "the ranks disagree on collective"}};
  return label;
}

class RankDependentCollectives final : public LabelledFault {
 public:
  RankDependentCollectives() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Communicator> communicator(std::unique_ptr<Communicator> clean,
                                             int rank) const override {
    if (rank + 1 != clean->world_size()) return clean;
    return std::make_unique<SwappingCommunicator>(std::move(clean));
  }
};

}  // namespace

std::unique_ptr<Fault> make_rank_dependent_collectives() {
  return std::make_unique<RankDependentCollectives>();
}

}  // namespace zerolab
