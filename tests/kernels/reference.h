/// \file
/// Plain fp64 versions of the operations, written for clarity: what the kernels are tested against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stages/kernels/kernels.h"

namespace zerolab::testing_kernels::reference {

using Vector = std::vector<double>;

inline double& at(Vector& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; }
inline double at(const Vector& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; }

/// y(M,N) = x(M,K) · w(K,N) + b(N), b may be empty
inline Vector linear(const Vector& x, const Vector& w, const Vector& b, MatrixShape s) {
  Vector y(static_cast<std::size_t>(s.m * s.n));
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = b.empty() ? 0.0 : at(b, j);
      for (std::int64_t k = 0; k < s.k; ++k) sum += at(x, i * s.k + k) * at(w, k * s.n + j);
      at(y, i * s.n + j) = sum;
    }
  }
  return y;
}

/// (rows, columns) -> (columns, rows)
inline Vector transpose(const Vector& x, std::int64_t rows, std::int64_t columns) {
  Vector y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) at(y, c * rows + r) = at(x, r * columns + c);
  }
  return y;
}

inline Vector plus(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

inline double gelu(double x) {
  const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(u));
}

inline Vector gelu(Vector x) {
  for (double& value : x) value = gelu(value);
  return x;
}

inline Vector layer_norm(const Vector& x, const Vector& w, const Vector& b, std::int64_t rows,
                         std::int64_t C) {
  Vector y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    double mean = 0.0;
    double variance = 0.0;
    for (std::int64_t c = 0; c < C; ++c) mean += at(x, r * C + c) / static_cast<double>(C);
    for (std::int64_t c = 0; c < C; ++c) {
      const double d = at(x, r * C + c) - mean;
      variance += d * d / static_cast<double>(C);
    }
    for (std::int64_t c = 0; c < C; ++c) {
      const double normalised = (at(x, r * C + c) - mean) / std::sqrt(variance + 1e-5);
      at(y, r * C + c) = normalised * at(w, c) + at(b, c);
    }
  }
  return y;
}

/// qkv (B,T,3C) -> y (B,T,C)
inline Vector attention(const Vector& qkv, AttentionShape s) {
  const std::int64_t C = s.heads * s.head_size;
  Vector y(static_cast<std::size_t>(s.batch * s.time * C));
  const auto read = [&](std::int64_t b, std::int64_t t, int which, std::int64_t channel) {
    return at(qkv, (b * s.time + t) * 3 * C + which * C + channel);
  };
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t t = 0; t < s.time; ++t) {
        Vector weights;
        double sum = 0.0;
        for (std::int64_t u = 0; u <= t; ++u) {
          double score = 0.0;
          for (std::int64_t c = h * s.head_size; c < (h + 1) * s.head_size; ++c) {
            score += read(b, t, 0, c) * read(b, u, 1, c);
          }
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(s.head_size))));
          sum += weights.back();
        }
        for (std::int64_t u = 0; u <= t; ++u) {
          for (std::int64_t c = h * s.head_size; c < (h + 1) * s.head_size; ++c) {
            at(y, (b * s.time + t) * C + c) += at(weights, u) / sum * read(b, u, 2, c);
          }
        }
      }
    }
  }
  return y;
}

/// Σ −log softmax(logits)[target] over the rows with target >= 0
inline double cross_entropy(const Vector& logits, const std::vector<std::int32_t>& targets,
                            std::int64_t V) {
  double loss = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    const auto first = static_cast<std::int64_t>(row) * V;
    double sum = 0.0;
    for (std::int64_t v = 0; v < V; ++v) sum += std::exp(at(logits, first + v));
    loss += std::log(sum) - at(logits, first + targets[row]);
  }
  return loss;
}

}  // namespace zerolab::testing_kernels::reference
