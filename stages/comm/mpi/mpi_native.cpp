// Reduction native: MPI's own collectives, in calls of at most `max_message_count` elements. They
// cannot be interrupted, so each begins only when all ranks have come.
#include <algorithm>
#include <climits>
#include <span>

#include "stages/comm/mpi/mpi_transport.h"
#include "stages/comm/sum.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

// What MPI adds with: called on blocks of two operands.
template <class T>
void add_16_bit(void* in, void* in_out, int* count, MPI_Datatype* /*type*/) {
  const std::byte* const terms[] = {static_cast<const std::byte*>(in),
                                    static_cast<const std::byte*>(in_out)};
  sum_in_order(dtype_of<T>, terms, static_cast<std::byte*>(in_out), *count);
}

// An element type and its sum; MPI knows neither bf16 nor fp16.
class NativeSum {
 public:
  explicit NativeSum(DType dtype) {
    switch (dtype) {
      case DType::kFloat32:
        type_ = MPI_FLOAT;
        break;
      case DType::kFloat64:
        type_ = MPI_DOUBLE;
        break;
      case DType::kInt32:
        type_ = MPI_INT32_T;
        break;
      case DType::kInt64:
        type_ = MPI_INT64_T;
        break;
      case DType::kUInt64:
        type_ = MPI_UINT64_T;
        break;
      case DType::kBFloat16:
        make_16_bit(&add_16_bit<BFloat16>);
        break;
      case DType::kFloat16:
        make_16_bit(&add_16_bit<Float16>);
        break;
      case DType::kInt8:
      case DType::kByte:
        require(false, "[mpi] {} has no sum; it is only moved", name_of(dtype));
    }
  }
  ~NativeSum() {
    if (!own_) return;
    report_mpi(MPI_Op_free(&op_), "MPI_Op_free");
    report_mpi(MPI_Type_free(&type_), "MPI_Type_free");
  }
  NativeSum(const NativeSum&) = delete;
  NativeSum& operator=(const NativeSum&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }

 private:
  void make_16_bit(MPI_User_function* add) {
    check_mpi(MPI_Type_contiguous(2, MPI_BYTE, &type_), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    check_mpi(MPI_Op_create(add, 1, &op_), "MPI_Op_create");
    own_ = true;
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_SUM;
  bool own_ = false;
};

std::int64_t call_limit(const MpiTransportSettings& settings) {
  return std::min<std::int64_t>(settings.max_message_count, INT_MAX);
}

}  // namespace

void MpiTransport::native_all_reduce(View in_out) {
  const NativeSum sum(in_out.dtype);
  meet_before_blocking();
  for (std::int64_t first = 0; first < in_out.count; first += call_limit(settings_)) {
    const View part = in_out.slice(first, std::min(call_limit(settings_), in_out.count - first));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, part.data, static_cast<int>(part.count), sum.type(),
                            sum.op(), comm_.get()),
              "MPI_Allreduce");
  }
}

// A window over the input that crosses slices gives each rank the part inside its own slice.
void MpiTransport::native_reduce_scatter(View input, View output) {
  const NativeSum sum(input.dtype);
  const std::int64_t slice = output.count;
  std::vector<int> counts(static_cast<std::size_t>(world_size()));
  std::vector<std::byte> own(output.data >= input.data && output.data < input.data + input.bytes()
                                 ? static_cast<std::size_t>(output.bytes())
                                 : 0);
  // MPI forbids the output to be part of the input.
  const View target = own.empty() ? output : View{own.data(), output.dtype, output.count};
  meet_before_blocking();
  std::int64_t written = 0;
  for (std::int64_t first = 0; first < input.count; first += call_limit(settings_)) {
    const Range window{first, std::min(first + call_limit(settings_), input.count)};
    for (int peer = 0; peer < world_size(); ++peer) {
      counts[static_cast<std::size_t>(peer)] =
          static_cast<int>(intersect(window, {peer * slice, (peer + 1) * slice}).size());
    }
    const int mine = counts[static_cast<std::size_t>(rank_)];
    check_mpi(MPI_Reduce_scatter(input.slice(window).data, target.slice(written, mine).data,
                                 counts.data(), sum.type(), sum.op(), comm_.get()),
              "MPI_Reduce_scatter");
    written += mine;
  }
  std::copy(own.begin(), own.end(), output.data);
}

void MpiTransport::native_all_gather(View array) {
  const std::int64_t slice = array.bytes() / world_size();
  std::vector<int> counts(static_cast<std::size_t>(world_size()));
  std::vector<int> places(static_cast<std::size_t>(world_size()));
  meet_before_blocking();
  // Places are ints and count from the window's begin.
  const std::int64_t limit = call_limit(settings_);
  for (std::int64_t first = 0; first < array.bytes(); first += limit) {
    const Range window{first, std::min(first + limit, array.bytes())};
    for (int peer = 0; peer < world_size(); ++peer) {
      const Range part = intersect(window, {peer * slice, (peer + 1) * slice});
      counts[static_cast<std::size_t>(peer)] = static_cast<int>(part.size());
      places[static_cast<std::size_t>(peer)] =
          part.empty() ? 0 : static_cast<int>(part.begin - first);
    }
    check_mpi(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, array.data + first, counts.data(),
                             places.data(), MPI_BYTE, comm_.get()),
              "MPI_Allgatherv");
  }
}

}  // namespace zerolab
