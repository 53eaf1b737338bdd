#include "stages/comm/thread/mailbox.h"

#include <vector>

#include "stages/comm/thread/waiting.h"

namespace zerolab {

Mailbox::~Mailbox() { sort(); }

void Mailbox::push(std::shared_ptr<Letter> letter) {
  auto node = std::make_unique<Node>();
  node->letter = std::move(letter);
  node->older = newest_.load(std::memory_order_relaxed);
  while (!newest_.compare_exchange_weak(node->older, node.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  (void)node.release();  // the chain owns it now
  ring();
}

void Mailbox::sort() {
  std::vector<std::unique_ptr<Node>> arrived;
  for (Node* node = newest_.exchange(nullptr, std::memory_order_acquire); node != nullptr;
       node = arrived.back()->older) {
    arrived.emplace_back(node);
  }
  while (!arrived.empty()) {
    auto letter = std::move(arrived.back()->letter);
    arrived.pop_back();
    auto& letters = sorted_[letter->sender];
    letters.push_back(std::move(letter));
  }
}

Letter* Mailbox::front(int sender) {
  sort();
  const auto found = sorted_.find(sender);
  if (found == sorted_.end() || found->second.empty()) return nullptr;
  return found->second.front().get();
}

void Mailbox::pop_front(int sender) { sorted_[sender].pop_front(); }

void Mailbox::ring() {
  bell_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) != 0) futex_wake_all(bell_);
}

void Mailbox::wait(std::uint32_t seen) {
  Vigil vigil;
  do {
    if (bell() != seen) return;
  } while (vigil.stay_awake());
  sleeping_.store(1, std::memory_order_seq_cst);
  futex_wait(bell_, seen, kSleepSlice);
  sleeping_.store(0, std::memory_order_relaxed);
}

}  // namespace zerolab
