#include "stages/core/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stages/core/error.h"

namespace zerolab {

InputFile::InputFile(std::filesystem::path path, const char* component)
    : path_(std::move(path)), component_(component) {
  // O_NONBLOCK: a pipe without a writer must be refused, not waited for.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    bad_input("[{}] {} cannot be opened ({}); give the path of a readable file", component_,
              path_.string(), std::strerror(errno));
  }
  struct stat status {};
  const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    ::close(std::exchange(descriptor_, -1));
    bad_input("[{}] {} is not a regular file; give the path of a file", component_, path_.string());
  }
  size_ = status.st_size;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      component_(other.component_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(component_, other.component_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read_at(std::int64_t offset, void* dst, std::int64_t bytes) const {
  auto* out = static_cast<char*>(dst);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, out, static_cast<std::size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      fail("[{}] reading {} at byte {} failed: {}", component_, path_.string(), offset,
           std::strerror(errno));
    }
    if (got == 0) {
      fail("[{}] {} ends at byte {}, {} bytes early: it was shortened while in use", component_,
           path_.string(), offset, bytes);
    }
    out += got;
    offset += got;
    bytes -= got;
  }
}

}  // namespace zerolab
