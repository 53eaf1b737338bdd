// Runs the contract suite on ranks that are threads.
#include "tests/comm/contract/ranks.h"

namespace zerolab {

std::vector<int> contract_world_sizes() { return {1, 2, 3, 4, 8}; }
std::shared_ptr<World> contract_world(int ranks) { return make_thread_world(ranks); }
WireKind contract_wire() { return WireKind::kPeerView; }

}  // namespace zerolab
