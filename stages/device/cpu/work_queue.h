/// \file
/// The one-way queue from the host to a stream's worker.
#pragma once

#include <semaphore.h>

#include <memory>
#include <utility>

#include "stages/device/cpu/spin.h"

namespace zerolab {

/// First in, first out, unbounded; one pushing and one popping thread.
///
/// It synchronises host to worker only, through a POSIX semaphore that the worker never posts. A
/// mutex would also order the worker before the host, hence before every other worker, and
/// ThreadSanitizer could not see that a wait between two streams is missing.
template <class T>
class WorkQueue {
 public:
  WorkQueue() : front_(std::make_unique<Node>()), back_(front_.get()) { sem_init(&filled_, 0, 0); }
  ~WorkQueue() { sem_destroy(&filled_); }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Host only. Never blocks.
  void push(T value) {
    back_->next = std::make_unique<Node>(std::move(value));
    back_ = back_->next.get();
    sem_post(&filled_);
  }

  /// Worker only. Blocks until there is something; it stays valid until the next `pop`.
  T& pop() {
    int turn = 0;
    while (sem_trywait(&filled_) != 0 && ++turn < kSpinTurns) pause_briefly();
    if (turn == kSpinTurns) {
      while (sem_wait(&filled_) != 0) {
      }  // interrupted by a signal
    }
    front_ = std::move(front_->next);
    return front_->value;
  }

 private:
  struct Node {
    Node() = default;
    explicit Node(T v) : value(std::move(v)) {}
    T value{};
    std::unique_ptr<Node> next;
  };

  sem_t filled_{};
  std::unique_ptr<Node> front_;  // the worker's: the popped node
  Node* back_;                   // the host's: the last node
};

}  // namespace zerolab
