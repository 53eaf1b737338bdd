#include "experiments/report/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "stages/core/error.h"

namespace zerolab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPartial = ".partial";

/// One above the largest number among NNN and NNN.partial in `runs`.
int next_number(const fs::path& runs) {
  int next = 1;
  std::error_code failure;
  fs::directory_iterator entries(runs, failure);
  if (failure && failure != std::errc::no_such_file_or_directory) {
    fail("[report] cannot list {}: {}; give --out", runs.string(), failure.message());
  }
  for (const auto& entry : entries) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(kPartial)) name.resize(name.size() - std::strlen(kPartial));
    int number = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    constexpr int kLargest = 1'000'000'000;
    if (error == std::errc() && stop == end && number >= next && number < kLargest) {
      next = number + 1;
    }
  }
  return next;
}

}  // namespace

RunDirectory::RunDirectory(const std::string& out, const fs::path& runs) {
  if (out.empty()) {
    do {
      final_ = runs / fmt::format("{:03}", next_number(runs));
      partial_ = final_;
      partial_ += kPartial;
    } while (!reserve());
    return;
  }
  final_ = fs::path(out).lexically_normal();
  if (!final_.has_filename()) final_ = final_.parent_path();  // "dir/"
  if (!final_.has_filename() || final_.filename() == "..") {
    bad_input("[report] --out '{}' is no name for a new directory; give one, or leave it out", out);
  }
  partial_ = final_;
  partial_ += kPartial;
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(final_, ignored))) {
    bad_input("[report] {} exists already; choose another --out, or remove it", final_.string());
  }
  if (!reserve()) {
    bad_input(
        "[report] {} exists: a run is writing it, or one was killed; remove it or choose another "
        "--out",
        partial_.string());
  }
}

RunDirectory::~RunDirectory() {
  if (!owned_) return;
  std::error_code error;
  fs::remove_all(partial_, error);
  if (error) {
    std::fprintf(stderr, "zerolab: %s could not be removed (%s); it is incomplete\n",
                 partial_.c_str(), error.message().c_str());
    return;
  }
  // Parents that exist only because of this run go too, unless somebody else has used them.
  if (topmost_made_.empty()) return;
  for (fs::path parent = partial_.parent_path(); ::rmdir(parent.c_str()) == 0;
       parent = parent.parent_path()) {
    if (parent == topmost_made_) break;
  }
}

void RunDirectory::make_parents() {
  const fs::path parent = final_.parent_path();
  if (parent.empty()) return;
  for (fs::path missing = parent; !missing.empty() && !fs::exists(missing);
       missing = missing.parent_path()) {
    topmost_made_ = missing;
  }
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) fail("[report] cannot create {}: {}", parent.string(), error.message());
}

bool RunDirectory::reserve() {
  std::error_code ignored;
  for (fs::path up = final_.parent_path(); !up.empty() && up != up.parent_path();
       up = up.parent_path()) {
    if (fs::exists(up, ignored) && !fs::is_directory(up, ignored)) {
      bad_input("[report] {} is a file, but --out needs a directory there; choose another --out",
                up.string());
    }
  }
  make_parents();
  // mkdir is the reservation: it succeeds for one run only.
  if (::mkdir(partial_.c_str(), 0777) == 0) {
    // Another run may have finished under this name since it was looked for.
    owned_ = !fs::exists(fs::symlink_status(final_, ignored));
    if (!owned_) ::rmdir(partial_.c_str());
    return owned_;
  }
  if (errno == EEXIST) return false;
  fail("[report] cannot create {}: {}", partial_.string(), std::strerror(errno));
}

fs::path RunDirectory::folder(const std::string& name) const {
  const fs::path inside = partial_ / name;
  std::error_code error;
  fs::create_directories(inside, error);
  if (error) fail("[report] cannot create {}: {}", inside.string(), error.message());
  return inside;
}

void RunDirectory::commit() {
  require(owned_, "[report] {} was committed twice", final_.string());
  // A plain rename would replace an empty directory that appeared meanwhile.
  int done = ::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, final_.c_str(), RENAME_NOREPLACE);
  if (done != 0 && (errno == EINVAL || errno == ENOSYS) && !fs::exists(final_)) {
    done = ::rename(partial_.c_str(), final_.c_str());
  }
  owned_ = false;
  if (done == 0) return;
  fail("[report] cannot rename {} to {}: {}; the complete run stays under the first name",
       partial_.string(), final_.string(), std::strerror(errno));
}

}  // namespace zerolab
