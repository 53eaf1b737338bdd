#include "stages/model/gpt_activations.h"

#include <string>

namespace zerolab {

namespace {

GptBlockActivations allocate_block(const std::string& block, std::int64_t tokens, std::int64_t C,
                                   std::int64_t attention_saved, DType dtype, Device& device,
                                   Stream& compute) {
  const auto keep = [&](const char* name, std::int64_t count) {
    return device.allocate(dtype, count, Category::kActivations, block + name, compute);
  };
  const auto keep_fp32 = [&](const char* name, std::int64_t count) {
    return device.allocate(DType::kFloat32, count, Category::kActivations, block + name, compute);
  };
  GptBlockActivations a;
  a.ln_1 = keep(" ln_1", tokens * C);
  a.ln_1_mean = keep_fp32(" ln_1 mean", tokens);
  a.ln_1_rstd = keep_fp32(" ln_1 rstd", tokens);
  a.qkv = keep(" qkv", tokens * 3 * C);
  a.attention_saved = keep_fp32(" attention saved", attention_saved);
  a.attention = keep(" attention", tokens * C);
  a.middle = keep(" residual after attention", tokens * C);
  a.ln_2 = keep(" ln_2", tokens * C);
  a.ln_2_mean = keep_fp32(" ln_2 mean", tokens);
  a.ln_2_rstd = keep_fp32(" ln_2 rstd", tokens);
  a.fc_before_gelu = keep(" fc before gelu", tokens * 4 * C);
  a.fc = keep(" fc", tokens * 4 * C);
  a.output = keep(" residual after mlp", tokens * C);
  return a;
}

}  // namespace

GptActivations::GptActivations(const GptConfig& config, std::int64_t batch, std::int64_t time,
                               Device& device, Stream& compute, const Kernels& kernels,
                               DType dtype) {
  const std::int64_t tokens = batch * time, C = config.channels;
  const auto allocate = [&](DType type, std::int64_t count, Category category, const char* name) {
    return device.allocate(type, count, category, name, compute);
  };
  const auto keep = [&](const char* name, std::int64_t count) {
    return allocate(dtype, count, Category::kActivations, name);
  };
  const auto keep_fp32 = [&](const char* name, std::int64_t count) {
    return allocate(DType::kFloat32, count, Category::kActivations, name);
  };
  const auto scratch = [&](const char* name, std::int64_t count) {
    return allocate(dtype, count, Category::kWorkspace, name);
  };
  const std::int64_t attention_saved =
      kernels.attention_saved_count({batch, time, config.heads, C / config.heads});

  embedding = keep("embedding", tokens * C);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    blocks.push_back(allocate_block(fmt::format("h.{}", layer), tokens, C, attention_saved, dtype,
                                    device, compute));
  }
  ln_f = keep("ln_f", tokens * C);
  ln_f_mean = keep_fp32("ln_f mean", tokens);
  ln_f_rstd = keep_fp32("ln_f rstd", tokens);
  logits = keep("logits", tokens * config.vocabulary);

  d_residual = scratch("gradient of the residual stream", tokens * C);
  d_narrow = scratch("gradient of a narrow activation", tokens * C);
  d_wide = scratch("gradient of a wide activation", tokens * 4 * C);
  loss = allocate(DType::kFloat64, 1, Category::kWorkspace, "loss");
}

}  // namespace zerolab
