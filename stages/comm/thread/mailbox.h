/// \file
/// Messages between threads: the receiver copies from the sender's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>

namespace zerolab {

/// One message on its way. The sender keeps its bytes alive until the state is kDone or it has
/// managed to go from kPosted to kWithdrawn; the receiver copies only between kTaken and kDone.
struct Letter {
  enum State : std::uint32_t { kPosted, kTaken, kDone, kWithdrawn };

  int sender = 0;
  std::span<const std::byte> data;
  std::atomic<std::uint32_t> state{kPosted};
};

/// Where one rank receives: many senders push, the owner sorts by sender. The bell is rung when a
/// letter arrives and when one of the owner's own letters has been taken.
class Mailbox {
 public:
  Mailbox() = default;
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void push(std::shared_ptr<Letter> letter);
  /// The oldest letter of the sender that has not been removed; null when there is none.
  /// Owner only, as are `pop_front` and `wait`.
  Letter* front(int sender);
  void pop_front(int sender);

  void ring();
  std::uint32_t bell() const { return bell_.load(std::memory_order_acquire); }
  /// Spins, yields, then sleeps for a moment while the bell still shows `seen`.
  void wait(std::uint32_t seen);

 private:
  void sort();

  struct Node {
    std::shared_ptr<Letter> letter;
    Node* older = nullptr;
  };

  std::atomic<Node*> newest_{nullptr};  // owns the chain
  alignas(64) std::atomic<std::uint32_t> bell_{0};
  std::atomic<std::uint32_t> sleeping_{0};
  std::unordered_map<int, std::deque<std::shared_ptr<Letter>>> sorted_;  // by sender, oldest first
};

}  // namespace zerolab
