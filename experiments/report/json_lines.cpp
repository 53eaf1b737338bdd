#include "experiments/report/json_lines.h"

#include <nlohmann/json.hpp>

#include "stages/core/error.h"
#include "stages/core/input_file.h"

namespace zerolab {
namespace {

constexpr std::int64_t kPiece = 1 << 20;        // bytes read or written at once
constexpr std::size_t kLongestLine = 64 << 20;  // more is no record of ours

/// The lines of a file, one at a time.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path) : file_(path, "report") {}

  /// False at the end of the file. A last line without a line feed is a line.
  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::size_t feed = piece_.find('\n', at_);
      const bool found = feed != std::string::npos;
      line.append(piece_, at_, found ? feed - at_ : std::string::npos);
      if (line.size() > kLongestLine) {
        bad_input("[report] {}:{} is longer than {} bytes; this is no file of records",
                  file_.path().string(), number_ + 1, kLongestLine);
      }
      if (found) {
        at_ = feed + 1;
        ++number_;
        return true;
      }
      if (!refill()) {
        number_ += line.empty() ? 0 : 1;
        return !line.empty();
      }
    }
  }
  std::int64_t number() const { return number_; }

 private:
  bool refill() {
    const std::int64_t left = file_.size() - offset_;
    piece_.resize(static_cast<std::size_t>(std::min(left, kPiece)));
    at_ = 0;
    if (piece_.empty()) return false;
    file_.read_at(offset_, piece_.data(), static_cast<std::int64_t>(piece_.size()));
    offset_ += static_cast<std::int64_t>(piece_.size());
    return true;
  }

  InputFile file_;
  std::string piece_;
  std::size_t at_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t number_ = 0;
};

Json parsed(const std::string& line, const std::string& place) {
  try {
    return Json::parse(line);
  } catch (const Json::exception&) {
    bad_input("[report] {} is not a line of JSON; the file was cut short or changed", place);
  }
}

}  // namespace

void JsonLinesWriter::write(const Json& record) {
  pending_ += dumped(record);
  pending_ += '\n';
  ++records_;
  if (static_cast<std::int64_t>(pending_.size()) < kPiece) return;
  file_.append(pending_);
  pending_.clear();
}

void JsonLinesWriter::finish() {
  pending_ += fmt::format("{{\"end\":true,\"records\":{}}}\n", records_);
  file_.append(pending_);
  file_.commit();
}

void read_json_lines(const std::filesystem::path& path,
                     const std::function<void(const JsonField&)>& each) {
  LineReader lines(path);
  std::int64_t records = 0;
  bool ended = false;
  for (std::string line; lines.next(line);) {
    const std::string place = fmt::format("{}:{}", path.string(), lines.number());
    if (ended) bad_input("[report] {} comes after the end line; keep one run a file", place);
    const Json json = parsed(line, place);
    const JsonField record(json, place);
    if (!json.is_object()) record.reject("an object");
    if (record.has("end")) {
      ended = true;
      if (record["records"].integer() != records) {
        record["records"].reject(fmt::format("{}, the number of lines before it", records));
      }
      continue;
    }
    ++records;
    each(record);
  }
  if (!ended) {
    bad_input(
        "[report] {} ends after line {} without its end line; it was cut short, so copy it "
        "again or repeat the run",
        path.string(), lines.number());
  }
}

}  // namespace zerolab
