// Runs the contract suite under mpirun: every process runs every test, in step; rank 0 prints, and
// tells the failures of all.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>

#include "tests/comm/contract/ranks.h"

namespace zerolab {
namespace {

// gtest asks for the cases before main can hand anything over.
std::unique_ptr<World>& the_world() {
  static std::unique_ptr<World> world = make_mpi_world();
  return world;
}

// Collects the failed assertions of this process.
class Failures final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& info) override {
    test_ = fmt::format("{}.{}", info.test_suite_name(), info.name());
  }
  /// gtest calls this under its lock, so gtest itself cannot be asked anything here.
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    text_ += fmt::format("{}, {}:{}\n{}\n", test_,
                         result.file_name() == nullptr ? "" : result.file_name(),
                         result.line_number(), result.summary());
  }
  const std::string& text() const { return text_; }

 private:
  std::string test_;
  std::string text_;
};

}  // namespace

std::vector<int> contract_world_sizes() { return {the_world()->world_size()}; }
std::shared_ptr<World> contract_world(int) {
  return {the_world().get(), [](World*) {}};
}
WireKind contract_wire() { return WireKind::kMessages; }

int run_contract() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  auto failures = std::make_unique<Failures>();
  const Failures* collected = failures.get();
  World& world = *the_world();
  if (world.local_rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(failures.release());

  const int tests_failed = RUN_ALL_TESTS();
  bool failed = tests_failed != 0;
  world.run([&](RankContext& context) {
    const auto texts = context.gather_texts(collected->text());
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      failed = failed || !texts[rank].empty();
      if (context.rank() == 0 && !texts[rank].empty()) {
        std::cout << "rank " << rank << ": " << texts[rank] << std::flush;
      }
    }
  });
  the_world().reset();
  return failed ? 1 : 0;
}

}  // namespace zerolab

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return zerolab::run_contract();
}
