// Loss, gradients and optimizer steps against PyTorch, on the same weights and batches.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/model/model_bench.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using Json = nlohmann::json;
using Reader = std::vector<float> (LocalStage::*)(int);

constexpr int kSteps = 5;
constexpr int kExitWithoutTorch = 77;

template <class T>
Json values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Json as_json(const ModelSpec& spec, const HostBatch& batch, double loss) {
  const auto values = spec.is_gpt() ? values_of<std::int32_t> : values_of<float>;
  return {{"inputs", values(batch.inputs)}, {"targets", values(batch.targets)}, {"loss", loss}};
}

void save(ModelBench& bench, Reader tensor_of, const std::filesystem::path& path) {
  WeightsWriter writer(bench.layout(), path);
  for (int tensor = 0; tensor < static_cast<int>(bench.layout().tensors().size()); ++tensor) {
    const std::vector<float> values = (bench.stage().*tensor_of)(tensor);
    writer.write(tensor, {0, static_cast<std::int64_t>(values.size())}, values.data());
  }
  writer.finish();
}

Json describe(const ModelSpec& spec, std::int64_t batch, std::int64_t time,
              const LocalOptimizer& optimizer, float learning_rate, const ModelOptions& options) {
  Json config = spec.is_gpt() ? Json{{"layers", spec.gpt().layers}, {"heads", spec.gpt().heads}}
                              : Json{{"layers", kTiedMlpLayers}};
  return {{"model", spec.is_gpt() ? "gpt" : "tied-mlp"},
          {"config", config},
          {"batch", batch},
          {"time", time},
          {"dropout", options.dropout},
          {"seed", options.seed},
          {"optimizer",
           {{"type", optimizer.adamw ? "adamw" : "sgd"},
            {"lr", learning_rate},
            {"betas", {optimizer.beta1, optimizer.beta2}},
            {"epsilon", optimizer.epsilon},
            {"momentum", optimizer.momentum},
            {"weight_decay", optimizer.weight_decay}}}};
}

/// Trains `kSteps` steps of `micro_batches` each and writes all that the oracle needs.
void train_and_record(const ModelSpec& spec, std::int64_t batch, std::int64_t time,
                      const LocalOptimizer& optimizer, float learning_rate, int micro_batches,
                      const TemporaryDirectory& directory, const ModelOptions& options = {}) {
  ModelBench bench(spec, batch, time, optimizer, false, options);
  bench.stage().load(RandomWeights(bench.layout(), spec.is_gpt() ? 0.15F : 0.3F));
  save(bench, &LocalStage::parameter, directory / "initial.safetensors");

  Json record = describe(spec, batch, time, optimizer, learning_rate, options);
  for (int step = 1; step <= kSteps; ++step) {
    Json losses = Json::array();
    for (int k = 0; k < micro_batches; ++k) {
      HostBatch data = random_batch(spec, batch, time, step * micro_batches + k);
      data.first_sample = k * batch;
      losses.push_back(as_json(spec, data, bench.forward_backward(data, k, step)));
    }
    record["steps"].push_back(losses);
    if (step == 1) save(bench, &LocalStage::gradient, directory / "gradients.safetensors");
    bench.step(step, learning_rate, 1.0 / micro_batches);
  }
  save(bench, &LocalStage::parameter, directory / "final.safetensors");
  const HostBatch data = random_batch(spec, batch, time, 0);
  record["evaluation"] = as_json(spec, data, bench.evaluate(data));
  write_file_atomically(directory / "case.json", record.dump());
}

/// Exit code and output of a shell command.
std::pair<int, std::string> run(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  require(pipe != nullptr, "cannot start {}", command);
  std::array<char, 4096> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    output.append(chunk.data(), got);
  }
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

class TorchOracle : public testing::Test {
 protected:
  std::pair<int, std::string> ask() const {
    return run("/usr/bin/python3 " ZEROLAB_SOURCE_DIR "/tests/tools/torch_oracle.py " +
               directory_.path().string());
  }

  void expect_agreement(const ModelSpec& spec, std::int64_t batch, std::int64_t time,
                        const LocalOptimizer& optimizer, float learning_rate, int micro_batches,
                        const ModelOptions& options = {}) {
    train_and_record(spec, batch, time, optimizer, learning_rate, micro_batches, directory_,
                     options);
    const auto [code, output] = ask();
    if (code == kExitWithoutTorch || code == 127) GTEST_SKIP() << output;
    EXPECT_EQ(code, 0) << output;
    std::printf("%s", output.c_str());
  }

  TemporaryDirectory directory_;
};

// Some gradients are zero but for rounding, and AdamW would blow that up to a full step; an epsilon
// well above the rounding keeps the comparison about the arithmetic.
LocalOptimizer adamw() { return {true, 0.9F, 0.95F, 1e-4F, 0, 0.1F}; }
LocalOptimizer sgd() { return {false, 0, 0, 0, 0.9F, 0.1F}; }

ModelSpec narrow_tied_mlp() {
  ModelSpec spec = parse_model("tied-mlp");
  spec.config = TiedMlpConfig{10};
  return spec;
}

TEST_F(TorchOracle, AgreesOnGptWithAdamWAndASequenceShorterThanTheMaximum) {
  expect_agreement(parse_model("gpt-micro"), 3, 11, adamw(), 1e-2F, 1);
}

TEST_F(TorchOracle, AgreesOnGptWithSgdGradientAccumulationDropoutAndCheckpointsAtFullLength) {
  expect_agreement(parse_model("gpt-micro"), 2, 16, sgd(), 1e-1F, 3,
                   {.dropout = 0.25, .seed = 0x100000005, .checkpoint_every = 1});
}

TEST_F(TorchOracle, AgreesOnTiedMlpWithAdamW) {
  expect_agreement(narrow_tied_mlp(), 7, 1, adamw(), 1e-2F, 1);
}

TEST_F(TorchOracle, AgreesOnTiedMlpWithSgdAndGradientAccumulation) {
  expect_agreement(narrow_tied_mlp(), 7, 1, sgd(), 1e-2F, 2);
}

TEST_F(TorchOracle, RefusesASingleNaN) {
  const ModelSpec spec = narrow_tied_mlp();
  train_and_record(spec, 7, 1, sgd(), 1e-2F, 1, directory_);
  // The file's last element; data lie at its end.
  std::fstream file(directory_ / "gradients.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  file.seekp(-4, std::ios::end);
  file.write(reinterpret_cast<const char*>(&nan), 4);
  file.close();

  const auto [code, output] = ask();
  if (code == kExitWithoutTorch || code == 127) GTEST_SKIP() << output;
  EXPECT_EQ(code, 1) << output;
  EXPECT_NE(output.find("gradient of layers.8.weight: off by nan"), std::string::npos) << output;
}

}  // namespace
}  // namespace zerolab
