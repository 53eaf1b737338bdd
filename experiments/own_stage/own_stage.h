/// \file
/// Every detector for a stage of your own (docs/write-your-own-stage.md).
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/runner/stage_factory.h"

namespace zerolab {

/// A stage that is none of ours.
struct OwnStage {
  std::string name;      ///< "ddp-unit-by-unit": in tables, messages and as a directory
  StageFactory factory;  ///< called once on every rank, and again for every repetition
};

/// What a stage of one's own is tried with: the micro model on 3 ranks for 5 steps, buckets so
/// small that several are in flight, and every detector.
RunConfig own_stage_config();

/// Trains the stage under the checks of `config`, and DDP too where `against_ddp`. COMM and MEM
/// compare with a formula, which there is none of here: COMM looks at the order of the ranks'
/// calls, MEM for units that were gathered and not freed. REF needs DDP; without it, it only takes
/// the fingerprints that REP and IG compare. \throws BadInput for a name that is not fit, or what
/// is wrong with the configuration; Failure, or whatever the stage throws.
Comparison compare_own_stage(const OwnStage& stage, RunConfig config, bool against_ddp = false);

/// For tests of your own: what was found wrong, empty when nothing was. A difference to DDP is a
/// finding of REF. \throws as `compare_own_stage`.
std::vector<Finding> own_stage_findings(const OwnStage& stage,
                                        const RunConfig& config = own_stage_config(),
                                        bool against_ddp = false);

/// A main program: the options of `zerolab train` with the defaults above, `--reference ddp`, the
/// verdict in the words of `zerolab compare`, a report directory.
/// \returns 0 nothing was found, 1 something was, 2 bad input, 3 failure while running
int check_own_stage(const OwnStage& stage, int argc, const char* const* argv);
int check_own_stage(const OwnStage& stage, int argc, const char* const* argv, std::ostream& out,
                    std::ostream& err);

}  // namespace zerolab
