/// \file
/// The directory that a run writes: there in full, or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace zerolab {

/// Everything is written to DIR.partial, which `commit` renames to DIR. A run that fails takes its
/// DIR.partial with it.
class RunDirectory {
 public:
  /// `out` empty: the next free number under `runs`, e.g. "runs/003"; two runs that start together
  /// get two numbers.
  /// \throws BadInput when `out` (or its .partial) exists or is no possible directory;
  /// Failure when it cannot be created.
  explicit RunDirectory(const std::string& out, const std::filesystem::path& runs = "runs");
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  /// Where to write until `commit`.
  const std::filesystem::path& path() const { return partial_; }
  /// Where it will be found afterwards.
  const std::filesystem::path& final_path() const { return final_; }

  /// A directory inside, made if missing. \throws Failure
  std::filesystem::path folder(const std::string& name) const;

  /// Renames. Call once, last. \throws Failure; then the files stay in DIR.partial, as the message
  /// says.
  void commit();

 private:
  bool reserve();  // false when the name is taken
  void make_parents();

  std::filesystem::path final_;
  std::filesystem::path partial_;
  std::filesystem::path topmost_made_;  // the highest parent that was made for this run
  bool owned_ = false;
};

}  // namespace zerolab
