#include "stages/device/device.h"

#include <utility>

namespace zerolab {

Buffer::Buffer(Device& device, Allocation allocation, DType dtype, std::int64_t count)
    : device_(&device), allocation_(std::move(allocation)), view_{allocation_.data, dtype, count} {}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      allocation_(std::exchange(other.allocation_, {})),
      view_(std::exchange(other.view_, {})) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, nullptr);
    allocation_ = std::exchange(other.allocation_, {});
    view_ = std::exchange(other.view_, {});
  }
  return *this;
}

Buffer::~Buffer() { reset(); }

void Buffer::reset() {
  if (device_ != nullptr) device_->give_back(allocation_);
  device_ = nullptr;
  allocation_ = {};
  view_ = {};
}

Buffer Device::allocate(DType dtype, std::int64_t count, Category category, std::string name,
                        Stream& first_user) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  require(count >= 0 && count <= INT64_MAX / size,
          "[device] '{}' asks for {} elements of {}; a count is at least 0 and fits in memory",
          name, count, name_of(dtype));
  if (count == 0) {
    Buffer empty;
    empty.view_.dtype = dtype;
    return empty;
  }
  Allocation wanted;
  wanted.bytes = count * size;
  wanted.category = category;
  wanted.name = std::move(name);
  wanted.dtype = dtype;
  return {*this, take(std::move(wanted), first_user), dtype, count};
}

}  // namespace zerolab
