/// \file
/// Memory from the operating system, in whole pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zerolab {

/// Bytes of one page.
std::int64_t page_bytes();

/// Owns an anonymous mapping; zero-filled, untouched pages cost nothing. Move-only.
class Pages {
 public:
  Pages() = default;
  /// At least `bytes`, rounded up to whole pages. From 4 MiB on aligned to 2 MiB and backed by huge
  /// pages where the system allows, which saves page faults and TLB misses.
  /// \throws Failure when the system has no memory left.
  explicit Pages(std::int64_t bytes);
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace zerolab
