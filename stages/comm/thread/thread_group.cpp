#include "stages/comm/thread/thread_group.h"

#include <utility>

namespace zerolab {

ThreadGroup::ThreadGroup(std::vector<int> world_ranks_of_members,
                         std::shared_ptr<AbortState> abort_state)
    : world_ranks(std::move(world_ranks_of_members)),
      abort(std::move(abort_state)),
      enter(size()),
      leave(size()),
      places_(std::make_unique<Place[]>(world_ranks.size())) {
  for (int rank = 0; rank < size(); ++rank) place(rank).read_by.resize(world_ranks.size());
}

}  // namespace zerolab
