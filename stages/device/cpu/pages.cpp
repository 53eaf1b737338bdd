#include "stages/device/cpu/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stages/core/view.h"

namespace zerolab {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

std::byte* map(std::int64_t bytes) {
  void* address = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    fail("[device] the system refused {} more bytes ({}); use a smaller model, batch or world",
         bytes, std::strerror(errno));
  }
  return static_cast<std::byte*>(address);
}

void unmap(std::byte* begin, std::int64_t bytes) {
  if (bytes > 0) munmap(begin, static_cast<std::size_t>(bytes));
}

std::byte* map_huge(std::int64_t bytes) {
  std::byte* raw = map(bytes + kHugePage);
  const auto misaligned =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(raw)) % kHugePage;
  const std::int64_t skip = misaligned == 0 ? 0 : kHugePage - misaligned;
  unmap(raw, skip);
  std::byte* data = raw + skip;
  unmap(data + bytes, kHugePage - skip);
  // Whole huge pages only: a tail that is never touched must not count as resident.
  madvise(data, static_cast<std::size_t>(bytes / kHugePage * kHugePage), MADV_HUGEPAGE);
  return data;
}

}  // namespace

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

Pages::Pages(std::int64_t bytes) : data_(nullptr), bytes_(round_up(bytes, page_bytes())) {
  data_ = bytes_ >= 2 * kHugePage ? map_huge(bytes_) : map(bytes_);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Pages::~Pages() { unmap(data_, bytes_); }

}  // namespace zerolab
