#include "experiments/report/fingerprints_file.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "experiments/report/json_lines.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::size_t kDigits = 16;

std::uint64_t parse_hash(const JsonField& field) {
  const std::string text = field.text();
  std::uint64_t hash = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, hash, 16);
  const bool lower = text.find_first_of("ABCDEF-") == std::string::npos;
  if (text.size() != kDigits || error != std::errc() || stop != end || !lower) {
    field.reject("16 hexadecimal digits");
  }
  return hash;
}

std::vector<std::uint64_t> parse_phase(const JsonField& field, std::vector<std::string>& tensors) {
  const std::vector<std::string> names = field.names();
  if (tensors.empty()) tensors = names;
  if (!names.empty() && names != tensors) {
    field.reject("the same tensors, in the same order, as before");
  }
  std::vector<std::uint64_t> hashes;
  hashes.reserve(names.size());
  for (const auto& item : field.value().items()) {
    hashes.push_back(
        parse_hash(JsonField(item.value(), field.file(), field.key() + "." + item.key())));
  }
  return hashes;
}

}  // namespace

void write_fingerprints(const std::filesystem::path& path,
                        const std::vector<StepFingerprints>& fingerprints,
                        const std::vector<std::string>& tensors) {
  JsonLinesWriter file(path);
  for (const StepFingerprints& step : fingerprints) {
    Json line = {{"step", step.step}};
    for (std::size_t phase = 0; phase < std::size(kFingerprintPhases); ++phase) {
      Json& object = line[kFingerprintPhases[phase]] = Json::object();
      if (phase >= step.values.size() || step.values[phase].empty()) continue;
      require(step.values[phase].size() == tensors.size(),
              "[fingerprints] step {} has {} of {} for {} tensors", step.step,
              step.values[phase].size(), kFingerprintPhases[phase], tensors.size());
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        object[tensors[t]] = fmt::format("{:016x}", step.values[phase][t]);
      }
    }
    file.write(line);
  }
  file.finish();
}

FingerprintFile read_fingerprints(const std::filesystem::path& path) {
  FingerprintFile file;
  read_json_lines(path, [&](const JsonField& from) {
    StepFingerprints step;
    step.step = from["step"].count();
    if (!file.steps.empty() && step.step <= file.steps.back().step) {
      from["step"].reject(fmt::format("a step after {}", file.steps.back().step));
    }
    for (const char* phase : kFingerprintPhases) {
      step.values.push_back(parse_phase(from[phase], file.tensors));
    }
    file.steps.push_back(std::move(step));
  });
  return file;
}

}  // namespace zerolab
