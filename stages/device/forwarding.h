/// \file
/// Base classes for decorators of a device and its streams.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stages/device/device.h"

namespace zerolab {

/// Passes every call on to another stream; override what should differ. Observers, traces and the
/// pool see the inner stream.
class ForwardingStream : public Stream {
 public:
  explicit ForwardingStream(std::unique_ptr<Stream> inner) : inner_(std::move(inner)) {}

  void launch(Operation operation) override { inner_->launch(std::move(operation)); }
  Event record() override { return inner_->record(); }
  void wait(const Event& event, const char* reason) override { inner_->wait(event, reason); }
  void synchronize() override { inner_->synchronize(); }
  int id() const override { return inner_->id(); }
  const std::string& name() const override { return inner_->name(); }

 protected:
  Stream& inner() { return *inner_; }

 private:
  std::unique_ptr<Stream> inner_;
};

/// Passes every call on to another device. Override `create_stream` to decorate the streams, `take`
/// and `give_back` to decorate the memory. Devices know streams by id, so the inner device takes
/// decorated streams.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<Stream> create_stream(std::string name) override {
    return inner_->create_stream(std::move(name));
  }
  MemoryLedger& ledger() override { return inner_->ledger(); }
  std::int64_t reserved_bytes() const override { return inner_->reserved_bytes(); }
  Allocation take(Allocation wanted, Stream& first_user) override {
    return inner_->take(std::move(wanted), first_user);
  }
  void give_back(const Allocation& allocation) noexcept override { inner_->give_back(allocation); }

 protected:
  Device& inner() { return *inner_; }

 private:
  std::unique_ptr<Device> inner_;
};

}  // namespace zerolab
