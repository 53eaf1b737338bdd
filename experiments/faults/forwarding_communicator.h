/// \file
/// A communicator that hands every call on to another: the base of decorators.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stages/comm/communicator.h"

namespace zerolab {

/// Derive and override the calls of interest. Groups made by `split` are not decorated.
class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(std::unique_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int world_size() const override { return inner_->world_size(); }
  Stream& stream() override { return inner_->stream(); }
  CommLedger& ledger() override { return inner_->ledger(); }

  void all_reduce(View in_out, const CallTag& tag) override { inner_->all_reduce(in_out, tag); }
  void reduce_scatter(View input, View output, const CallTag& tag) override {
    inner_->reduce_scatter(input, output, tag);
  }
  void all_gather(View input, View output, const CallTag& tag) override {
    inner_->all_gather(input, output, tag);
  }
  void broadcast(View in_out, int root, const CallTag& tag) override {
    inner_->broadcast(in_out, root, tag);
  }
  void all_to_all(View input, View output, const CallTag& tag) override {
    inner_->all_to_all(input, output, tag);
  }
  void send(View view, int peer, const CallTag& tag) override { inner_->send(view, peer, tag); }
  void recv(View view, int peer, const CallTag& tag) override { inner_->recv(view, peer, tag); }
  void barrier(const CallTag& tag) override { inner_->barrier(tag); }
  std::unique_ptr<Communicator> split(int color, int key) override {
    return inner_->split(color, key);
  }
  void set_phase(std::string phase) override { inner_->set_phase(std::move(phase)); }
  void give_up() noexcept override { inner_->give_up(); }

 protected:
  Communicator& inner() { return *inner_; }

 private:
  std::unique_ptr<Communicator> inner_;
};

}  // namespace zerolab
