#include "stages/data/token_source.h"

#include <gmock/gmock.h>

#include "stages/core/error.h"
#include "tests/data/data_files.h"

namespace zerolab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::int32_t> read(const TokenSource& source, std::int64_t position,
                               std::size_t count) {
  std::vector<std::int32_t> tokens(count);
  source.read(position, tokens);
  return tokens;
}

class TokenFiles : public testing::Test {
 protected:
  void expect_refused(const std::vector<std::filesystem::path>& files, const std::string& message,
                      std::int64_t vocabulary = 256) {
    EXPECT_THAT([&] { TokenSource(files, vocabulary); },
                ThrowsMessage<BadInput>(AllOf(HasSubstr("[data]"), HasSubstr(message))));
  }
  DataFiles files_;
};

TEST_F(TokenFiles, OfTextAreBytes) {
  const TokenSource source({files_.add("a.txt", "A\xff\n")}, 256);
  EXPECT_EQ(source.size(), 3);
  EXPECT_EQ(source.format(), TokenFormat::kBytes);
  EXPECT_THAT(read(source, 0, 3), ElementsAre(65, 255, 10));
}

TEST_F(TokenFiles, OfLlmCAreSixteenBitTokens) {
  const TokenSource source({files_.add("a.bin", bin_file({50256, 0, 65535}))}, 65536);
  EXPECT_EQ(source.size(), 3);
  EXPECT_EQ(source.format(), TokenFormat::kUInt16);
  EXPECT_THAT(read(source, 0, 3), ElementsAre(50256, 0, 65535));
}

TEST_F(TokenFiles, LieBackToBackAndAreReadAcrossTheirEdges) {
  const TokenSource source({files_.add("a", "abc"), files_.add("b", "d"), files_.add("c", "efgh")},
                           256);
  EXPECT_EQ(source.size(), 8);
  EXPECT_THAT(read(source, 1, 5), ElementsAre('b', 'c', 'd', 'e', 'f'));
  EXPECT_THAT(read(source, 7, 1), ElementsAre('h'));
  EXPECT_THAT(read(source, 8, 0), ElementsAre());
}

TEST_F(TokenFiles, AreNotReadBeyondTheirEnd) {
  const TokenSource source({files_.add("a", "abc")}, 256);
  EXPECT_THROW(read(source, 1, 3), std::logic_error);
  EXPECT_THROW(read(source, -1, 2), std::logic_error);
}

TEST_F(TokenFiles, ThatAreMissingOrEmptyAreRefused) {
  expect_refused({}, "no data file was given");
  expect_refused({files_.missing("none.txt")}, "none.txt cannot be opened");
  expect_refused({files_.add("a", "abc"), files_.add("empty", "")}, "empty is empty");
  expect_refused({files_.add("none.bin", bin_file({}))}, "holds no tokens");
}

TEST_F(TokenFiles, WithATruncatedBinAreRefused) {
  const std::string whole = bin_file({1, 2, 3});
  expect_refused({files_.add("short.bin", whole.substr(0, whole.size() - 1))},
                 "is 1029 bytes long where its header promises 3 tokens, so 1030 bytes");
  expect_refused({files_.add("long.bin", whole + "x")}, "is 1031 bytes long");
  expect_refused({files_.add("tiny.bin", whole.substr(0, 100))}, "begins with a header of 1024");
}

TEST_F(TokenFiles, WithAnotherMagicOrVersionAreRefused) {
  expect_refused({files_.add("llama.bin", bin_file({1, 2}, 20240801, 7))}, "Llama 3's 32-bit");
  expect_refused({files_.add("model.bin", bin_file({1, 2}, 20240326, 3))},
                 "begins with 20240326 where llm.c's .bin has the magic 20240520");
  expect_refused({files_.add("new.bin", bin_file({1, 2}, 20240520, 2))}, "is version 2");
}

TEST_F(TokenFiles, WithATokenThatTheModelLacksAreRefusedWithFileAndByte) {
  expect_refused({files_.add("a.bin", bin_file({5, 255})), files_.add("b.bin", bin_file({7, 256}))},
                 "b.bin has token 256 at byte 1026; the model's vocabulary ends at 255");
  expect_refused({files_.add("a.txt", "abz")}, "a.txt has token 122 at byte 2", 100);
}

TEST_F(TokenFiles, FindABadTokenBeyondTheFirstChunk) {
  std::vector<std::uint16_t> tokens(600'000, 3);
  tokens.back() = 300;
  expect_refused({files_.add("big.bin", bin_file(tokens))}, "has token 300 at byte 1201022");
}

TEST_F(TokenFiles, OfTwoFormatsAreNotMixed) {
  expect_refused({files_.add("a.txt", "abc"), files_.add("b.bin", bin_file({1}))},
                 "have different formats");
}

TEST(TokenSplit, HoldsOutTheLastTenthRoundedDown) {
  EXPECT_EQ(split_tokens(100).training, (Range{0, 90}));
  EXPECT_EQ(split_tokens(100).held_out, (Range{90, 100}));
  EXPECT_EQ(split_tokens(109).held_out, (Range{99, 109}));
  EXPECT_EQ(split_tokens(9).held_out, (Range{9, 9}));
}

}  // namespace
}  // namespace zerolab
