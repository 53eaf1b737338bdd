#include "stages/kernels/cpu/cpu_kernels.h"

#include <cstring>
#include <utility>

#include "stages/kernels/cpu/cpu_backend.h"
#include "stages/kernels/cpu/elementwise.h"
#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/gemm.h"
#include "stages/kernels/cpu/random.h"

namespace zerolab {

std::unique_ptr<Kernels> make_cpu_kernels(int threads) {
  return std::make_unique<cpu::CpuKernels>(threads);
}

namespace cpu {

CpuKernels::CpuKernels(int threads) : team_(threads) { prepare_gemm(); }

void launch(Stream& stream, const char* name, std::vector<View> reads, std::vector<View> writes,
            std::function<void()> work) {
  std::erase_if(reads, [](const View& view) { return view.empty(); });
  std::erase_if(writes, [](const View& view) { return view.empty(); });
  stream.launch({name, {}, std::move(reads), std::move(writes), std::move(work)});
}

std::vector<View> covered(View x, const std::vector<Segment>& segments) {
  std::vector<View> views;
  for (const Segment& segment : segments) {
    const View part = x.slice(segment.flat_begin, segment.count);
    if (!views.empty() && views.back().data + views.back().bytes() == part.data) {
      views.back().count += part.count;
    } else {
      views.push_back(part);
    }
  }
  return views;
}

void require_count(const char* kernel, const char* what, View view, std::int64_t count) {
  require(view.count == count, "[{}] {} has {} elements, its shape needs {}", kernel, what,
          view.count, count);
}

void CpuKernels::zero(Stream& stream, View dst) {
  launch(stream, "zero", {}, {dst}, [=, &team = team_for(stream)] { cpu::zero(team, dst); });
}

void CpuKernels::copy(Stream& stream, View src, View dst) {
  require(src.dtype == dst.dtype, "[copy] {} was to be copied to {}; use cast", name_of(src.dtype),
          name_of(dst.dtype));
  require_count("copy", "the destination", dst, src.count);
  launch(stream, "copy", {src}, {dst},
         [=, &team = team_for(stream)] { cpu::copy(team, src, dst); });
}

void CpuKernels::cast(Stream& stream, View src, View dst) {
  require_count("cast", "the destination", dst, src.count);
  launch(stream, "cast", {src}, {dst},
         [=, &team = team_for(stream)] { cpu::cast(team, src, dst); });
}

void CpuKernels::add(Stream& stream, View src, View dst) {
  require_count("add", "the destination", dst, src.count);
  launch(stream, "add", {src}, {dst}, [=, &team = team_for(stream)] { cpu::add(team, src, dst); });
}

void CpuKernels::fill(Stream& stream, View dst, float value) {
  launch(stream, "fill", {}, {dst}, [=, &team = team_for(stream)] { cpu::fill(team, dst, value); });
}

void CpuKernels::upload(Stream& stream, const void* src, std::int64_t bytes, View dst) {
  require(bytes == dst.bytes(), "[upload] {} bytes were given for a view of {}", bytes,
          dst.bytes());
  const auto* first = static_cast<const std::byte*>(src);
  launch(stream, "upload", {}, {dst}, [dst, staged = std::vector(first, first + bytes)] {
    if (!staged.empty()) std::memcpy(dst.data, staged.data(), staged.size());
  });
}

void CpuKernels::download(Stream& stream, View src, void* dst) {
  launch(stream, "download", {src}, {}, [=] {
    if (!src.empty()) std::memcpy(dst, src.data, static_cast<std::size_t>(src.bytes()));
  });
}

void CpuKernels::upload_fp32(Stream& stream, const float* src, View dst) {
  launch(stream, "upload", {}, {dst}, [dst, staged = std::vector(src, src + dst.count)] {
    with_float_type(dst, [&](auto* to) { from_float(staged.data(), to, dst.count); });
  });
}

void CpuKernels::download_fp32(Stream& stream, View src, float* dst) {
  launch(stream, "download", {src}, {},
         [=] { with_float_type(src, [&](auto* from) { to_float(from, dst, src.count); }); });
}

void CpuKernels::normal(Stream& stream, View dst, float deviation, std::uint64_t seed,
                        std::uint64_t stream_id, std::int64_t first_index) {
  launch(stream, "normal", {}, {dst}, [=, &team = team_for(stream)] {
    cpu::normal(team, dst, {deviation, seed, stream_id}, first_index);
  });
}

}  // namespace cpu
}  // namespace zerolab
