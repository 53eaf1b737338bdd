// Launches of the linear layers and of the tied head.
#include "stages/kernels/cpu/cpu_backend.h"
#include "stages/kernels/cpu/linear.h"

namespace zerolab::cpu {
namespace {

/// The sizes of the three matrices of a product, and of a bias. Weight and bias may be missing: the
/// gradients of frozen ones.
void check_gradient(const char* kernel, View x, View w, View y, View b, MatrixShape s) {
  require_count(kernel, "the (M,K) matrix", x, s.m * s.k);
  require_count(kernel, "the (M,N) matrix", y, s.m * s.n);
  if (!w.empty()) require_count(kernel, "the weight", w, s.k * s.n);
  if (!b.empty()) require_count(kernel, "the bias", b, s.n);
}

/// The same, but the weight must be there.
void check(const char* kernel, View x, View w, View y, View b, MatrixShape s) {
  require_count(kernel, "the weight", w, s.k * s.n);
  check_gradient(kernel, x, w, y, b, s);
}

}  // namespace

void CpuKernels::linear(Stream& stream, View x, View w, View b, View y, MatrixShape s) {
  check("linear", x, w, y, b, s);
  launch(stream, "linear", {x, w, b}, {y},
         [=, &team = team_for(stream), px = x.as<float>(), pw = w.as<float>(), pb = data_or_null(b),
          py = y.as<float>()] { cpu::linear(team, px, pw, pb, nullptr, py, s); });
}

void CpuKernels::linear_residual(Stream& stream, View x, View w, View b, View residual, View y,
                                 MatrixShape s) {
  check("linear_residual", x, w, y, b, s);
  require_count("linear_residual", "the residual", residual, s.m * s.n);
  launch(stream, "linear_residual", {x, w, b, residual}, {y},
         [=, &team = team_for(stream), px = x.as<float>(), pw = w.as<float>(), pb = data_or_null(b),
          pr = residual.as<float>(),
          py = y.as<float>()] { cpu::linear(team, px, pw, pb, pr, py, s); });
}

void CpuKernels::linear_gelu(Stream& stream, View x, View w, View b, View pre, View y,
                             MatrixShape s) {
  check("linear_gelu", x, w, y, b, s);
  require_count("linear_gelu", "pre", pre, s.m * s.n);
  launch(stream, "linear_gelu", {x, w, b}, {pre, y},
         [=, &team = team_for(stream), px = x.as<float>(), pw = w.as<float>(), pb = data_or_null(b),
          pp = pre.as<float>(),
          py = y.as<float>()] { cpu::linear_gelu(team, px, pw, pb, pp, py, s); });
}

void CpuKernels::linear_backward_input(Stream& stream, View dy, View w, View dx, MatrixShape s) {
  check("linear_backward_input", dx, w, dy, {}, s);
  launch(stream, "linear_backward_input", {dy, w}, {dx},
         [=, &team = team_for(stream), pdy = dy.as<float>(), pw = w.as<float>(),
          pdx = dx.as<float>()] { cpu::linear_backward_input(team, pdy, pw, nullptr, pdx, s); });
}

void CpuKernels::linear_backward_input_gelu(Stream& stream, View dy, View w, View pre, View dpre,
                                            MatrixShape s) {
  check("linear_backward_input_gelu", dpre, w, dy, {}, s);
  require_count("linear_backward_input_gelu", "pre", pre, s.m * s.k);
  launch(
      stream, "linear_backward_input_gelu", {dy, w, pre}, {dpre},
      [=, &team = team_for(stream), pdy = dy.as<float>(), pw = w.as<float>(), pp = pre.as<float>(),
       pdx = dpre.as<float>()] { cpu::linear_backward_input(team, pdy, pw, pp, pdx, s); });
}

void CpuKernels::linear_backward_weight(Stream& stream, View x, View dy, View dw, View db,
                                        MatrixShape s) {
  if (dw.empty() && db.empty()) return;  // frozen
  check_gradient("linear_backward_weight", x, dw, dy, db, s);
  launch(stream, "linear_backward_weight", {x, dy}, {dw, db},
         [=, &team = team_for(stream), px = x.as<float>(), pdy = dy.as<float>(),
          pdw = data_or_null(dw),
          pdb = data_or_null(db)] { cpu::linear_backward_weight(team, px, pdy, pdw, pdb, s); });
}

void CpuKernels::head(Stream& stream, View x, View w, View y, MatrixShape s) {
  check("head", x, w, y, {}, s);
  launch(stream, "head", {x, w}, {y},
         [=, &team = team_for(stream), px = x.as<float>(), pw = w.as<float>(), py = y.as<float>()] {
           cpu::head(team, px, pw, py, s);
         });
}

void CpuKernels::head_backward_input(Stream& stream, View dy, View w, View dx, MatrixShape s) {
  check("head_backward_input", dx, w, dy, {}, s);
  launch(stream, "head_backward_input", {dy, w}, {dx},
         [=, &team = team_for(stream), pdy = dy.as<float>(), pw = w.as<float>(),
          pdx = dx.as<float>()] { cpu::head_backward_input(team, pdy, pw, pdx, s); });
}

void CpuKernels::head_backward_weight(Stream& stream, View dy, View x, View dw, MatrixShape s) {
  if (dw.empty()) return;  // frozen
  check("head_backward_weight", x, dw, dy, {}, s);
  launch(stream, "head_backward_weight", {dy, x}, {dw},
         [=, &team = team_for(stream), pdy = dy.as<float>(), px = x.as<float>(),
          pdw = dw.as<float>()] { cpu::head_backward_weight(team, pdy, px, pdw, s); });
}

}  // namespace zerolab::cpu
