#include "stages/device/cpu/cpu_stream.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "stages/core/error.h"

namespace zerolab {
namespace {

/// A ticket of one stream, as an event. Only the host holds or drops references to it.
struct CpuEventState final : Event::State, std::enable_shared_from_this<CpuEventState> {
  CpuEventState(std::shared_ptr<CpuDeviceCore> device_core, int stream, EventWords* event_words,
                Ticket event_ticket)
      : State(device_core->next_event_id++),
        core(std::move(device_core)),
        stream_id(stream),
        words(event_words),
        ticket(event_ticket) {}

  void host_wait() override {
    words->wait(ticket);
    const Event event(shared_from_this());
    core->tell([&](DeviceObserver& o) { o.host_waited(event); });
    core->failure.rethrow_if_any();
  }
  bool happened() const override { return words->happened(ticket); }

  std::shared_ptr<CpuDeviceCore> core;
  int stream_id;
  EventWords* words;
  Ticket ticket;
};

const CpuEventState& state_of(const Event& event, const CpuDeviceCore* core) {
  const auto* state = dynamic_cast<const CpuEventState*>(event.state().get());
  require(state != nullptr && state->core.get() == core,
          "[device] a stream was asked to wait for an event of another device; streams of two "
          "devices are ordered by the communicator only");
  return *state;
}

EventWords* new_words(CpuDeviceCore& core) {
  core.words.push_back(std::make_unique<EventWords>());
  return core.words.back().get();
}

}  // namespace

CpuStream::CpuStream(int id, std::string name, std::shared_ptr<CpuDeviceCore> core)
    : id_(id),
      name_(std::move(name)),
      core_(std::move(core)),
      waited_for_(kMaxStreams + 1, 0),
      words_(new_words(*core_)),
      worker_([this] { run(); }) {
  pthread_setname_np(worker_.native_handle(), name_.substr(0, 15).c_str());  // for debuggers
  core_->streams.push_back(this);
}

CpuStream::~CpuStream() {
  drain();
  queue_.push(Stop{});
  worker_.join();
  std::erase(core_->streams, this);
}

void CpuStream::drain() noexcept {
  const Event last = mark();
  if (!last.valid()) return;
  words_->wait(last_ticket_);
  core_->tell([&](DeviceObserver& o) { o.host_waited(last); });
}

void CpuStream::launch(Operation operation) {
  core_->failure.rethrow_if_any();
  enqueue(std::move(operation));
}

Event CpuStream::record() {
  core_->failure.rethrow_if_any();
  return mark();
}

void CpuStream::wait(const Event& event, const char* reason) {
  core_->failure.rethrow_if_any();
  follow(event, reason);
}

void CpuStream::synchronize() {
  drain();
  core_->failure.rethrow_if_any();
}

void CpuStream::enqueue(Operation operation) {
  note_users(operation.reads);
  note_users(operation.writes);
  core_->tell([&](DeviceObserver& o) { o.host_launched(*this, operation); });
  push(std::move(operation));
}

Event CpuStream::mark() {
  if (!changed_) return last_event_;
  queue_.push(Signal{++last_ticket_});
  last_event_ = Event(std::make_shared<CpuEventState>(core_, id_, words_, last_ticket_));
  changed_ = false;
  core_->tell([&](DeviceObserver& o) { o.host_recorded(*this, last_event_); });
  return last_event_;
}

void CpuStream::follow(const Event& event, const char* reason) {
  if (!event.valid()) return;
  const CpuEventState& state = state_of(event, core_.get());
  if (state.stream_id == id_) return;
  core_->tell([&](DeviceObserver& o) { o.host_stream_waits(*this, event, reason); });
  push(Await{state.words, state.ticket, reason});
  Ticket& latest = waited_for_[static_cast<std::size_t>(state.stream_id + 1)];
  latest = std::max(latest, state.ticket);
}

void CpuStream::follow_once(const Event& event, const char* reason) {
  if (!event.valid()) return;
  const CpuEventState& state = state_of(event, core_.get());
  const Ticket latest = waited_for_[static_cast<std::size_t>(state.stream_id + 1)];
  if (state.ticket > latest) follow(event, reason);
}

void CpuStream::push(Item item) {
  queue_.push(std::move(item));
  changed_ = true;
}

void CpuStream::note_users(const std::vector<View>& views) {
  for (const View& view : views) {
    if (core_->pool == nullptr || view.empty()) continue;
    if (Block* block = core_->pool->find(view.data)) block->users.insert(id_);
  }
}

void CpuStream::run() {
  for (;;) {
    const Item& item = queue_.pop();
    if (const auto* operation = std::get_if<Operation>(&item)) {
      run(*operation);
    } else if (const auto* signal = std::get_if<Signal>(&item)) {
      words_->signal(signal->ticket);
    } else if (const auto* await = std::get_if<Await>(&item)) {
      run(*await);
    } else {
      return;
    }
  }
}

void CpuStream::run(const Operation& operation) noexcept {
  if (failed_) return;
  core_->tell([&](DeviceObserver& o) { o.worker_begins(*this, operation); });
  try {
    if (operation.work) operation.work();
  } catch (...) {
    failed_ = true;
    core_->failure.keep(std::current_exception());
  }
  core_->tell([&](DeviceObserver& o) { o.worker_ended(*this, operation); });
}

void CpuStream::run(const Await& await) noexcept {
  core_->tell([&](DeviceObserver& o) { o.worker_waits(*this, await.reason); });
  await.words->wait(await.ticket);
  core_->tell([&](DeviceObserver& o) { o.worker_waited(*this, await.reason); });
}

}  // namespace zerolab
