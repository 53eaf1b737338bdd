#include "stages/core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stages/core/error.h"

namespace zerolab {

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  // Two writers of the same target, in one process or in two, must not share a temporary file.
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = target_;
    temporary_ += fmt::format(".{}.{}.partial", ::getpid(), attempt);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail_with_errno("create");
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::append(std::string_view bytes) {
  write_at(end_, bytes.data(), static_cast<std::int64_t>(bytes.size()));
  end_ += static_cast<std::int64_t>(bytes.size());
}

void AtomicFile::write_at(std::int64_t offset, const void* data, std::int64_t bytes) {
  require(descriptor_ >= 0, "[file] {} was written after its commit", target_.string());
  const auto* in = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(descriptor_, in, static_cast<std::size_t>(bytes), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_with_errno("write");
    in += put;
    offset += put;
    bytes -= put;
  }
}

void AtomicFile::commit() {
  require(descriptor_ >= 0, "[file] {} was committed twice", target_.string());
  if (::fsync(descriptor_) != 0) fail_with_errno("write");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with_errno("rename");
  ::close(std::exchange(descriptor_, -1));
  // The new name is durable only once the directory is. Some file systems refuse to sync one.
  const std::filesystem::path parent = target_.has_parent_path() ? target_.parent_path() : ".";
  const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void AtomicFile::fail_with_errno(const char* action) const {
  const int error = errno;
  fail("[file] cannot {} {}: {}; nothing was left behind", action, target_.string(),
       std::strerror(error));
}

void write_file_atomically(const std::filesystem::path& target, std::string_view text) {
  AtomicFile file(target);
  file.append(text);
  file.commit();
}

}  // namespace zerolab
