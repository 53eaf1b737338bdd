// Launches of embedding, layer norm, attention and the losses.
#include "stages/kernels/cpu/attention.h"
#include "stages/kernels/cpu/cpu_backend.h"
#include "stages/kernels/cpu/dropout.h"
#include "stages/kernels/cpu/embedding.h"
#include "stages/kernels/cpu/layer_norm.h"
#include "stages/kernels/cpu/loss.h"

namespace zerolab::cpu {
namespace {

/// Either table may be missing: the gradient of a frozen one.
EmbeddingShape embedding_shape(const char* kernel, View tokens, View activations, View wte,
                               View wpe, std::int64_t B, std::int64_t T, std::int64_t C) {
  require_count(kernel, "tokens", tokens, B * T);
  require_count(kernel, "the (B,T,C) tensor", activations, B * T * C);
  require(C > 0 && wte.count % C == 0, "[{}] wte has {} elements, a multiple of {} is needed",
          kernel, wte.count, C);
  require(wpe.empty() || T * C <= wpe.count, "[{}] {} positions were given, wpe has {}", kernel, T,
          wpe.count / C);
  return {B, T, C, wte.count / C};
}

void check_layer_norm(const char* kernel, View x, View w, View mean, View rstd, std::int64_t rows,
                      std::int64_t C) {
  require_count(kernel, "the (rows,C) matrix", x, rows * C);
  require_count(kernel, "w", w, C);
  require_count(kernel, "mean", mean, rows);
  require_count(kernel, "rstd", rstd, rows);
}

void check_attention(const char* kernel, View qkv, View y, View saved, AttentionShape s) {
  const std::int64_t count = s.batch * s.time * s.heads * s.head_size;
  require_count(kernel, "the (B,T,3C) tensor", qkv, 3 * count);
  require_count(kernel, "the (B,T,C) tensor", y, count);
  require_count(kernel, "saved", saved, cpu::attention_saved_count(s));
}

}  // namespace

void CpuKernels::embedding(Stream& stream, View tokens, View wte, View wpe, View y, std::int64_t B,
                           std::int64_t T, std::int64_t C) {
  const EmbeddingShape s = embedding_shape("embedding", tokens, y, wte, wpe, B, T, C);
  launch(stream, "embedding", {tokens, wte, wpe.slice(0, T * C)}, {y},
         [=, &team = team_for(stream), pt = tokens.as<std::int32_t>(), pe = wte.as<float>(),
          pp = wpe.as<float>(), py = y.as<float>()] { cpu::embedding(team, pt, pe, pp, py, s); });
}

void CpuKernels::embedding_backward(Stream& stream, View tokens, View dy, View dwte, View dwpe,
                                    std::int64_t B, std::int64_t T, std::int64_t C) {
  if (dwte.empty() && dwpe.empty()) return;  // frozen
  const EmbeddingShape s = embedding_shape("embedding_backward", tokens, dy, dwte, dwpe, B, T, C);
  const View positions = dwpe.empty() ? dwpe : dwpe.slice(0, T * C);
  launch(stream, "embedding_backward", {tokens, dy}, {dwte, positions},
         [=, &team = team_for(stream), pt = tokens.as<std::int32_t>(), pdy = dy.as<float>(),
          pe = data_or_null(dwte),
          pp = data_or_null(dwpe)] { cpu::embedding_backward(team, pt, pdy, pe, pp, s); });
}

void CpuKernels::layer_norm(Stream& stream, View x, View w, View b, View y, View mean, View rstd,
                            std::int64_t rows, std::int64_t C) {
  check_layer_norm("layer_norm", x, w, mean, rstd, rows, C);
  require_count("layer_norm", "b", b, C);
  require_count("layer_norm", "y", y, rows * C);
  launch(stream, "layer_norm", {x, w, b}, {y, mean, rstd},
         [=, &team = team_for(stream), px = x.as<float>(), pw = w.as<float>(), pb = b.as<float>(),
          py = y.as<float>(), pm = mean.as<float>(),
          pr = rstd.as<float>()] { cpu::layer_norm(team, px, pw, pb, py, pm, pr, rows, C); });
}

void CpuKernels::layer_norm_backward(Stream& stream, View dy, View x, View w, View mean, View rstd,
                                     View carry, View dx, View dw, View db, std::int64_t rows,
                                     std::int64_t C) {
  check_layer_norm("layer_norm_backward", x, w, mean, rstd, rows, C);
  require_count("layer_norm_backward", "dy", dy, rows * C);
  require_count("layer_norm_backward", "dx", dx, rows * C);
  if (!dw.empty()) require_count("layer_norm_backward", "dw", dw, C);
  if (!db.empty()) require_count("layer_norm_backward", "db", db, C);
  if (!carry.empty()) require_count("layer_norm_backward", "carry", carry, rows * C);
  // What is read and written is declared as written only.
  const View read_carry = carry.data == dx.data ? View{} : carry;
  launch(stream, "layer_norm_backward", {dy, x, w, mean, rstd, read_carry}, {dx, dw, db},
         [=, &team = team_for(stream), pdy = dy.as<float>(), px = x.as<float>(), pw = w.as<float>(),
          pm = mean.as<float>(), pr = rstd.as<float>(), pc = data_or_null(carry),
          pdx = dx.as<float>(), pdw = data_or_null(dw), pdb = data_or_null(db)] {
           cpu::layer_norm_backward(team, pdy, px, pw, pm, pr, pc, pdx, pdw, pdb, rows, C);
         });
}

std::int64_t CpuKernels::attention_saved_count(AttentionShape s) const {
  return cpu::attention_saved_count(s);
}

void CpuKernels::attention(Stream& stream, View qkv, View y, View saved, AttentionShape s,
                           const DropoutMask& mask) {
  check_attention("attention", qkv, y, saved, s);
  launch(stream, "attention", {qkv}, {y, saved},
         [=, &team = team_for(stream), pq = qkv.as<float>(), py = y.as<float>(),
          ps = saved.as<float>()] { cpu::attention(team, pq, py, ps, s, mask); });
}

void CpuKernels::attention_backward(Stream& stream, View dy, View qkv, View y, View saved,
                                    View dqkv, AttentionShape s, const DropoutMask& mask) {
  check_attention("attention_backward", qkv, y, saved, s);
  require_count("attention_backward", "dy", dy, y.count);
  require_count("attention_backward", "dqkv", dqkv, qkv.count);
  launch(stream, "attention_backward", {dy, qkv, y, saved}, {dqkv},
         [=, &team = team_for(stream), pdy = dy.as<float>(), pq = qkv.as<float>(),
          py = y.as<float>(), ps = saved.as<float>(), pdq = dqkv.as<float>()] {
           cpu::attention_backward(team, pdy, pq, py, ps, pdq, s, mask);
         });
}

void CpuKernels::dropout(Stream& stream, View x, View residual, View y, std::int64_t samples,
                         const DropoutMask& mask) {
  require(samples > 0 && x.count % samples == 0, "[dropout] {} elements are not {} equal samples",
          x.count, samples);
  require(mask.probability >= 0 && mask.probability < 1,
          "[dropout] the probability is {}; it must be at least 0 and below 1", mask.probability);
  require_count("dropout", "y", y, x.count);
  if (!residual.empty()) require_count("dropout", "the residual", residual, x.count);
  // What is read and written is declared as written only.
  const View read_x = x.data == y.data ? View{} : x;
  const View read_residual = residual.data == y.data ? View{} : residual;
  launch(stream, "dropout", {read_x, read_residual}, {y},
         [=, &team = team_for(stream)] { cpu::dropout(team, x, residual, y, samples, mask); });
}

void CpuKernels::cross_entropy(Stream& stream, View logits, View targets, View loss,
                               std::int64_t rows, std::int64_t V, float scale, bool gradient) {
  require_count("cross_entropy", "logits", logits, rows * V);
  require_count("cross_entropy", "targets", targets, rows);
  require_count("cross_entropy", "the loss", loss, 1);
  const View read = gradient ? View{} : logits;
  const View written = gradient ? logits : View{};
  launch(stream, "cross_entropy", {targets, read}, {written, loss},
         [=, &team = team_for(stream), pl = logits.as<float>(), pt = targets.as<std::int32_t>(),
          result = loss.as<double>()] {
           *result = cpu::cross_entropy(team, pl, pt, rows, V, scale, gradient);
         });
}

void CpuKernels::squared_error(Stream& stream, View prediction, View target, View dprediction,
                               View loss, float scale) {
  require_count("squared_error", "the target", target, prediction.count);
  require_count("squared_error", "the loss", loss, 1);
  if (!dprediction.empty()) {
    require_count("squared_error", "dprediction", dprediction, prediction.count);
  }
  launch(stream, "squared_error", {prediction, target}, {dprediction, loss},
         [=, &team = team_for(stream), pp = prediction.as<float>(), pt = target.as<float>(),
          pd = data_or_null(dprediction), result = loss.as<double>()] {
           *result = cpu::squared_error(team, pp, pt, pd, prediction.count, scale);
         });
}

}  // namespace zerolab::cpu
