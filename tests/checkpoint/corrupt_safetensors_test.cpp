// Files that must be refused, each with a sentence that says what is wrong.
#include <gmock/gmock.h>

#include <string>

#include "stages/checkpoint/safetensors.h"
#include "stages/core/atomic_file.h"
#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class CorruptSafetensors : public testing::Test {
 protected:
  static std::string file_with(const std::string& header, std::size_t data_bytes,
                               std::uint64_t announced) {
    return std::string(reinterpret_cast<const char*>(&announced), 8) + header +
           std::string(data_bytes, '\1');
  }

  void expect_refused(const std::string& content, const std::string& message) {
    write_file_atomically(path_, content);
    EXPECT_THAT([&] { SafetensorsFile{path_}; },
                ThrowsMessage<BadInput>(AllOf(HasSubstr("[safetensors]"),
                                              HasSubstr("bad.safetensors"), HasSubstr(message))))
        << content.substr(8, 200);
  }
  void expect_header_refused(const std::string& header, std::size_t data_bytes,
                             const std::string& message) {
    expect_refused(file_with(header, data_bytes, header.size()), message);
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "bad.safetensors";
};

constexpr const char* kGood = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

TEST_F(CorruptSafetensors, ControlCaseIsAccepted) {
  write_file_atomically(path_, file_with(kGood, 8, std::string(kGood).size()));
  EXPECT_NO_THROW(SafetensorsFile{path_});
}

TEST_F(CorruptSafetensors, TruncatedAnywhereIsRefused) {
  const std::string whole = file_with(kGood, 8, std::string(kGood).size());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file_atomically(path_, whole.substr(0, length));
    EXPECT_THROW(SafetensorsFile{path_}, BadInput) << "cut to " << length << " bytes";
  }
}

TEST_F(CorruptSafetensors, LengthsAreCheckedBeforeAnythingIsAllocated) {
  expect_refused("", "0 bytes long");
  expect_refused(file_with(kGood, 8, ~std::uint64_t{0}),
                 "header of 18446744073709551615 bytes; at most 100000000");
  expect_refused(file_with(kGood, 8, 100'000'001), "at most 100000000");
  expect_refused(file_with(kGood, 8, 99'999'999), "it is truncated");
}

TEST_F(CorruptSafetensors, DataMustTileTheFile) {
  expect_header_refused(kGood, 7, "7 bytes of data where its header promises 8; it is truncated");
  expect_header_refused(kGood, 9, "it is too long");
  const auto two = [](const char* second) {
    return std::string(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)") +
           R"("y":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}";
  };
  expect_header_refused(two("[4,8]"), 8, "'y' begins at byte 4 of the data and overlaps");
  expect_header_refused(two("[12,16]"), 16, "'y' begins at byte 12 of the data and leaves a hole");
}

TEST_F(CorruptSafetensors, ShapesAndOffsetsMustAgree) {
  const auto one = [](const char* dtype, const char* shape, const char* offsets) {
    return fmt::format(R"({{"x":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape,
                       offsets);
  };
  expect_header_refused(one(R"("F32")", "[3]", "[0,8]"), 8,
                        "'x' covers 8 bytes where its shape and dtype make 12");
  expect_header_refused(one(R"("F64")", "[2]", "[0,8]"), 8, "make 16");
  expect_header_refused(one(R"("F31")", "[2]", "[0,8]"), 8, "unknown dtype 'F31'");
  expect_header_refused(one("3", "[2]", "[0,8]"), 8, "'x' has no dtype");
  expect_header_refused(one(R"("F32")", "2", "[0,8]"), 8, "'x' has no shape");
  expect_header_refused(one(R"("F32")", "[-2]", "[0,8]"), 8, "'x' has -2 in shape");
  expect_header_refused(one(R"("F32")", "[2.0]", "[0,8]"), 8, "'x' has 2.0 in shape");
  expect_header_refused(one(R"("F32")", "[4611686018427387904, 4]", "[0,8]"), 8, "too large");
  expect_header_refused(one(R"("F32")", "[18446744073709551615]", "[0,8]"), 8, "not a count");
  expect_header_refused(one(R"("F32")", "[2]", "[8,0]"), 8, "not a begin and an end");
  expect_header_refused(one(R"("F32")", "[2]", "[0,8,8]"), 8, "not a begin and an end");
}

TEST_F(CorruptSafetensors, HeadersMustBeStrictJson) {
  expect_header_refused("[1]", 0, "does not begin with '{'");
  expect_header_refused(" {}", 0, "does not begin with '{'");
  expect_header_refused("", 0, "does not begin with '{'");
  expect_header_refused(R"({"x":)", 0, "is not JSON");
  expect_header_refused(std::string("{\"\xff\":{}}"), 0, "is not JSON");
  expect_header_refused("{}x", 0, "is not JSON");
  expect_header_refused(R"({"x":3})", 0, "'x' is not an object");
  expect_header_refused(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"extra":1}})", 0,
                        "'x' has an unknown key 'extra'");
  expect_header_refused(R"({"__metadata__":{"a":1}})", 0, "has 'a' that is not a string");
}

TEST_F(CorruptSafetensors, KeysMustNotComeTwice) {
  const std::string x = R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_header_refused("{" + x + "," + x + "}", 1, "the header has 'x' twice");
  expect_header_refused(R"({"x":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1,
                        "the header has 'dtype' twice");
}

TEST_F(CorruptSafetensors, DeepNestingIsRefusedEarly) {
  expect_header_refused(R"({"x":)" + std::string(100'000, '['), 0, "nested too deeply");
}

TEST_F(CorruptSafetensors, FoldersPipesAndMissingFilesAreNotFiles) {
  EXPECT_THAT([&] { SafetensorsFile{directory_.path()}; },
              ThrowsMessage<BadInput>(HasSubstr("is not a regular file")));
  EXPECT_THAT([&] { SafetensorsFile{directory_ / "none"}; },
              ThrowsMessage<BadInput>(HasSubstr("cannot be opened")));
}

}  // namespace
}  // namespace zerolab
