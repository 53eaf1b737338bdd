/// \file
/// Operations for the tests of devices: each declares what it touches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "stages/device/stream.h"

namespace zerolab::testing {

inline void fill(Stream& stream, View view, float value, const char* name = "fill") {
  stream.launch(
      {name, "", {}, {view}, [view, value] { std::fill_n(view.as<float>(), view.count, value); }});
}

/// What the view holds when the stream gets there; read `out` after synchronising.
inline void look(Stream& stream, View view, std::vector<float>& out, const char* name = "look") {
  stream.launch({name, "", {view}, {}, [view, &out] {
                   out.assign(view.as<float>(), view.as<float>() + view.count);
                 }});
}

/// dst = src + 1
inline void add_one(Stream& stream, View src, View dst, const char* name = "add_one") {
  stream.launch({name, "", {src}, {dst}, [src, dst] {
                   for (std::int64_t i = 0; i < src.count; ++i) {
                     dst.as<float>()[i] = src.as<float>()[i] + 1;
                   }
                 }});
}

inline void pause(Stream& stream, int milliseconds) {
  stream.launch({"pause", "", {}, {}, [milliseconds] {
                   std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
                 }});
}

}  // namespace zerolab::testing
