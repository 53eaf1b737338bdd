#include "stages/device/cpu/cpu_device.h"

#include <cstring>
#include <utility>

#include "stages/core/error.h"
#include "stages/device/cpu/cpu_stream.h"
#include "stages/device/cpu/guard.h"

namespace zerolab {
namespace {

constexpr int kNanByte = 0xFF;  // NaN in every floating type, -1 in every integer type

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(CpuDeviceOptions options)
      : poison_(options.poison), core_(std::make_shared<CpuDeviceCore>()) {
    core_->pool = std::make_unique<BlockPool>(options.guarded);
    core_->observers = std::move(options.observers);
    if (options.guarded) {
      guard_ = std::make_unique<Guard>();
      core_->observers.push_back(guard_.get());
    }
  }

  ~CpuDevice() override {
    own_stream_.reset();
    for (CpuStream* stream : core_->streams) stream->drain();
    core_->observers.clear();
    core_->pool.reset();
  }

  std::unique_ptr<Stream> create_stream(std::string name) override {
    require(next_stream_id_ < kMaxStreams,
            "[device] stream '{}' would be number {}; a device has at most {} in its life", name,
            next_stream_id_ + 1, kMaxStreams);
    return std::make_unique<CpuStream>(next_stream_id_++, std::move(name), core_);
  }

  MemoryLedger& ledger() override { return ledger_; }
  std::int64_t reserved_bytes() const override { return core_->pool->reserved_bytes(); }

  Allocation take(Allocation wanted, Stream& first_user) override {
    CpuStream& user = stream_with(first_user.id());
    Block& block = core_->pool->take(wanted.bytes);
    for (const Event& event : std::exchange(block.busy_until, {})) {
      user.follow_once(event, "memory reuse");
    }
    block.users.insert(user.id());
    wanted.data = block.data;
    ledger_.allocated(wanted.name, wanted.category, wanted.bytes);
    core_->tell([&](DeviceObserver& o) { o.host_allocated(wanted, user); });
    if (poison_) fill_with_nan(user, wanted, "handed out");
    return wanted;
  }

  void give_back(const Allocation& allocation) noexcept override {
    std::vector<Event> busy_until = mark_users(allocation);
    if (poison_) {
      CpuStream& own = own_stream();
      for (const Event& event : busy_until) own.follow_once(event, "memory freed");
      fill_with_nan(own, allocation, "freed");
      busy_until = {own.mark()};
    }
    core_->tell([&](DeviceObserver& o) { o.host_freed(allocation); });
    ledger_.freed(allocation.name, allocation.category, allocation.bytes);
    core_->pool->give_back(allocation.data, std::move(busy_until));
  }

 private:
  /// By id, since the caller's object may be a decorator around ours.
  CpuStream& stream_with(int id) const {
    for (CpuStream* stream : core_->streams) {
      if (stream->id() == id) return *stream;
    }
    fail("[device] no stream with id {} lives on this device; allocate for one of its own", id);
  }

  /// Only streams that used the block: others need not hold up its next user.
  std::vector<Event> mark_users(const Allocation& allocation) const {
    const Block* block = core_->pool->find(allocation.data);
    require(block != nullptr, "[device] '{}' is not held by this device", allocation.name);
    std::vector<Event> events;
    for (CpuStream* stream : core_->streams) {
      if (!block->users.contains(stream->id())) continue;
      Event event = stream->mark();
      if (event.valid()) events.push_back(std::move(event));
    }
    return events;
  }

  static void fill_with_nan(CpuStream& stream, const Allocation& allocation, const char* when) {
    const View bytes{allocation.data, DType::kByte, allocation.bytes};
    stream.enqueue({"poison", allocation.name + ", " + when, {}, {bytes}, [bytes] {
                      std::memset(bytes.data, kNanByte, static_cast<std::size_t>(bytes.count));
                    }});
  }

  CpuStream& own_stream() {
    if (!own_stream_) own_stream_ = std::make_unique<CpuStream>(kOwnStreamId, "poison", core_);
    return *own_stream_;
  }

  const bool poison_;
  MemoryLedger ledger_;
  std::unique_ptr<Guard> guard_;
  std::shared_ptr<CpuDeviceCore> core_;
  std::unique_ptr<CpuStream> own_stream_;
  int next_stream_id_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(CpuDeviceOptions options) {
  return std::make_unique<CpuDevice>(std::move(options));
}

}  // namespace zerolab
