#include "stages/checkpoint/safetensors.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<SafetensorsEntry> three_tensors() {
  return {{"b", "F32", {2, 3}, {}}, {"a", "I64", {2}, {}}, {"c", "U8", {}, {}}};
}

class Safetensors : public testing::Test {
 protected:
  /// b counts 0 … 5, a holds {-1, 7}, c is 200.
  void write_three() {
    SafetensorsWriter writer(path_, three_tensors(), {{"format", "pt"}});
    const std::vector<float> b = {0, 1, 2, 3, 4, 5};
    const std::vector<std::int64_t> a = {-1, 7};
    const std::uint8_t c = 200;
    writer.write("b", {8, 24}, b.data() + 2);
    writer.write("a", {0, 16}, a.data());
    writer.write("b", {0, 8}, b.data());
    writer.write("c", {0, 1}, &c);
    writer.finish();
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "model.safetensors";
};

TEST_F(Safetensors, ReadBackWhatWasWrittenInAnyOrder) {
  write_three();
  const SafetensorsFile file(path_);

  std::vector<float> b(6);
  file.read(*file.find("b"), {0, 24}, b.data());
  std::vector<std::int64_t> a(2);
  file.read(*file.find("a"), {0, 16}, a.data());
  std::uint8_t c = 0;
  file.read(*file.find("c"), {0, 1}, &c);

  EXPECT_THAT(b, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(a, ElementsAre(-1, 7));
  EXPECT_EQ(c, 200);
  EXPECT_THAT(file.find("b")->shape, ElementsAre(2, 3));
  EXPECT_TRUE(file.find("c")->shape.empty());
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "pt")));
  EXPECT_EQ(file.find("d"), nullptr);
}

TEST_F(Safetensors, ReadPartsOfATensor) {
  write_three();
  const SafetensorsFile file(path_);
  std::vector<float> part(2);
  file.read(*file.find("b"), {12, 20}, part.data());
  EXPECT_THAT(part, ElementsAre(3, 4));
}

TEST_F(Safetensors, AreLaidOutByAlignmentThenNameBehindAPaddedHeader) {
  write_three();
  const SafetensorsFile file(path_);
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : file.entries()) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  std::ifstream in(path_, std::ios::binary);
  std::uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(std::filesystem::file_size(path_), 8 + length + 16 + 24 + 1);
}

TEST_F(Safetensors, KeepNaNInfinityAndNegativeZeroToTheBit) {
  const std::vector<float> values = {std::numeric_limits<float>::quiet_NaN(), -0.0F,
                                     std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::denorm_min()};
  SafetensorsWriter writer(path_, {{"x", "F32", {4}, {}}}, {});
  writer.write("x", {0, 16}, values.data());
  writer.finish();
  const SafetensorsFile file(path_);
  std::vector<float> read(4);
  file.read(*file.find("x"), {0, 16}, read.data());
  EXPECT_EQ(std::memcmp(read.data(), values.data(), 16), 0);
}

TEST_F(Safetensors, MayHoldNoTensorsOrTensorsWithoutElements) {
  SafetensorsWriter(path_, {}, {}).finish();
  EXPECT_TRUE(SafetensorsFile(path_).entries().empty());
  SafetensorsWriter(path_, {{"e", "F32", {3, 0}, {}}}, {}).finish();
  EXPECT_EQ(SafetensorsFile(path_).find("e")->bytes.size(), 0);
}

TEST_F(Safetensors, AreNotFinishedWhileBytesAreMissing) {
  SafetensorsWriter writer(path_, three_tensors(), {});
  const std::uint8_t c = 1;
  writer.write("c", {0, 1}, &c);
  EXPECT_THROW(writer.finish(), std::logic_error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Safetensors, RefuseTwoTensorsOfOneName) {
  EXPECT_THROW(SafetensorsWriter(path_, {{"x", "F32", {1}, {}}, {"x", "F32", {1}, {}}}, {}),
               std::logic_error);
  EXPECT_EQ(directory_.entries(), 0U);
}

}  // namespace
}  // namespace zerolab
