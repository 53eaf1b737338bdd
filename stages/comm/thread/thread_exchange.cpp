// Messages between threads.
#include <algorithm>
#include <cstring>

#include "stages/comm/message_cut.h"
#include "stages/comm/thread/thread_transport.h"
#include "stages/comm/thread/waiting.h"

namespace zerolab {
namespace {

// The sender's memory must not be read once it has left; a taken letter is done in a moment.
void withdraw(Letter& letter) {
  std::uint32_t expected = Letter::kPosted;
  if (letter.state.compare_exchange_strong(expected, Letter::kWithdrawn)) return;
  while (letter.state.load(std::memory_order_acquire) == Letter::kTaken) pause_spinning();
}

}  // namespace

void ThreadTransport::exchange(std::span<const Outgoing> sends,
                               std::span<const Incoming> receives) {
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (const Outgoing& send : sends) append_cut(send, settings_.max_message_bytes, out);
  for (const Incoming& receive : receives) append_cut(receive, settings_.max_message_bytes, in);

  std::vector<std::shared_ptr<Letter>> letters;
  for (const Outgoing& send : out) {
    auto letter = std::make_shared<Letter>();
    letter->sender = rank_;
    letter->data = send.data;
    group_->place(send.peer).mailbox.push(letter);
    letters.push_back(std::move(letter));
    if (send.peer == rank_) continue;
    bytes_.sent_to[static_cast<std::size_t>(send.peer)] +=
        static_cast<std::int64_t>(send.data.size());
  }

  waiting_since_ = std::chrono::steady_clock::now();
  complaint_.reset();
  std::vector<int> missing;
  for (;;) {
    const std::uint32_t bell = mine().mailbox.bell();
    // Asked before the look into the box: a peer may post its letter and end its part.
    const bool enough = should_stop(missing);
    try {
      take_letters(in);
    } catch (...) {
      for (const auto& letter : letters) withdraw(*letter);
      throw;
    }
    missing.clear();
    for (const Incoming& receive : in) missing.push_back(receive.peer);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i]->state.load(std::memory_order_acquire) != Letter::kDone) {
        missing.push_back(out[i].peer);
      }
    }
    if (missing.empty()) break;
    if (enough) {
      for (const auto& letter : letters) withdraw(*letter);
      stop();
    }
    mine().mailbox.wait(bell);
  }
}

void ThreadTransport::take_letters(std::vector<Incoming>& receives) {
  Mailbox& mailbox = mine().mailbox;
  std::vector<int> waited_for;  // an older receive from this sender is still open
  std::vector<Incoming> open;
  for (const Incoming& receive : receives) {
    const bool behind =
        std::find(waited_for.begin(), waited_for.end(), receive.peer) != waited_for.end();
    Letter* letter = behind ? nullptr : mailbox.front(receive.peer);
    std::uint32_t expected = Letter::kPosted;
    if (letter == nullptr || !letter->state.compare_exchange_strong(expected, Letter::kTaken)) {
      waited_for.push_back(receive.peer);
      open.push_back(receive);
      continue;
    }
    const std::size_t size = letter->data.size();
    if (size == receive.data.size()) {
      std::memcpy(receive.data.data(), letter->data.data(), size);
    }
    letter->state.store(Letter::kDone, std::memory_order_release);
    mailbox.pop_front(receive.peer);
    group_->place(receive.peer).mailbox.ring();
    if (size != receive.data.size()) {
      fail(
          "[comm] rank {} expected a message of {} bytes from rank {} in {}, but got {}; both must "
          "make the same calls",
          world_ranks()[static_cast<std::size_t>(rank_)], receive.data.size(),
          world_ranks()[static_cast<std::size_t>(receive.peer)], describe(header_), size);
    }
    if (receive.peer != rank_) {
      bytes_.received_from[static_cast<std::size_t>(receive.peer)] +=
          static_cast<std::int64_t>(size);
    }
  }
  receives = std::move(open);
}

void ThreadTransport::open_pair(const CallHeader& header) {
  begin_call(header);
  if (!settings_.checked) return;
  exchange_pair_header(*this, header);
}

}  // namespace zerolab
