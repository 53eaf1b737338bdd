/// \file
/// A stream that is a FIFO worker thread.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "stages/device/cpu/cpu_device_core.h"
#include "stages/device/cpu/work_queue.h"
#include "stages/device/stream.h"

namespace zerolab {

/// Work runs on one thread of its own, in order. The destructor waits for all of it.
class CpuStream final : public Stream {
 public:
  CpuStream(int id, std::string name, std::shared_ptr<CpuDeviceCore> core);
  ~CpuStream() override;

  void launch(Operation operation) override;
  Event record() override;
  void wait(const Event& event, const char* reason) override;
  void synchronize() override;
  int id() const override { return id_; }
  const std::string& name() const override { return name_; }

  // For the device itself, whose own ordering must go on after a failure: the same three without
  // rethrowing it.
  void enqueue(Operation operation);
  Event mark();
  void follow(const Event& event, const char* reason);
  /// Blocks until all queued work has ended.
  void drain() noexcept;
  /// As `follow`, but leaves out a wait that an earlier one already covers.
  void follow_once(const Event& event, const char* reason);

 private:
  struct Signal {
    Ticket ticket;
  };
  struct Await {
    EventWords* words;
    Ticket ticket;
    const char* reason;
  };
  struct Stop {};
  using Item = std::variant<Stop, Operation, Signal, Await>;

  void run();
  void run(const Operation& operation) noexcept;
  void run(const Await& await) noexcept;
  void push(Item item);
  void note_users(const std::vector<View>& views);

  const int id_;
  const std::string name_;
  const std::shared_ptr<CpuDeviceCore> core_;
  // Host only.
  Ticket last_ticket_ = 0;
  Event last_event_;
  bool changed_ = false;            // since last_event_
  std::vector<Ticket> waited_for_;  // by stream id + 1: the latest ticket this stream waits for
  // Worker only.
  bool failed_ = false;
  // Both.
  EventWords* const words_;
  WorkQueue<Item> queue_;
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace zerolab
