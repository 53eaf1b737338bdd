#include "stages/comm/mpi/mpi_run.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "stages/core/error.h"

namespace zerolab {
namespace {

using namespace std::chrono_literals;

// Eager messages need no receiver to be sent; Open MPI's smallest limit is 4 KiB.
constexpr std::size_t kMaxMessage = 2048;
constexpr int kYields = 400;
constexpr int kMeetTag = 1;
// A message that is already coming takes no longer than this, unless its sender is gone.
constexpr auto kLastBytes = 10s;

// Ranks usually outnumber cores: give the core away at once, and sleep when it takes longer.
void pause(int round) {
  if (round < kYields) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::min(20us * (1 + (round - kYields) / 16), 500us));
  }
}

}  // namespace

MpiRun::MpiRun(MPI_Comm world)
    : control_(MpiComm::duplicate(world)), host_(MpiComm::duplicate(world)) {
  check_mpi(MPI_Comm_rank(world, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(world, &size_), "MPI_Comm_size");
}

MpiRun::~MpiRun() {
  for (const auto& sent : sent_) {
    int done = 0;
    report_mpi(MPI_Test(&sent->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
  if (!broken()) return;
  control_.abandon();
  host_.abandon();
}

bool MpiRun::abort(const std::exception& error) {
  if (!abort_.raise(error)) return false;
  aborted_here_ = true;
  const Failure failure = abort_.error();
  const std::int32_t odd_rank = failure.odd_rank();
  std::string message(sizeof odd_rank, '\0');
  std::memcpy(message.data(), &odd_rank, sizeof odd_rank);
  message += failure.what();
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) send(peer, kAbort, message.data(), std::min(message.size(), kMaxMessage));
  }
  return true;
}

void MpiRun::wait(const std::function<bool()>& done, double timeout_seconds,
                  const Complaint& complaint) {
  const auto start = Clock::now();
  for (int round = 0;; ++round) {
    if (done()) return;
    if (round % 8 == 7) look_for_messages();
    stop_if_aborted();
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (timeout_seconds > 0 && waited.count() > timeout_seconds) {
      const Failure late = complaint();
      if (done()) return;  // it came while the others were asked
      if (abort(late)) throw Failure(late);
    }
    pause(round);
  }
}

void MpiRun::stop_if_aborted() const {
  if (giving_up_) throw Aborted("[mpi] this rank has failed elsewhere");
  if (abort_.raised()) abort_.throw_aborted();
}

// Dissemination: after round k everybody has heard, directly or not, of the 2^(k+1) ranks below.
void MpiRun::meet(MPI_Comm comm, double timeout_seconds, const Complaint& complaint,
                  Clock::duration stay) {
  look_for_messages();
  stop_if_aborted();
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  for (int distance = 1; distance < size; distance *= 2) {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank + size - distance) % size, kMeetTag, comm,
                        &requests[0]),
              "MPI_Irecv");
    check_mpi(
        MPI_Isend(nullptr, 0, MPI_BYTE, (rank + distance) % size, kMeetTag, comm, &requests[1]),
        "MPI_Isend");
    const auto done = [&] {
      int flag = 0;
      check_mpi(MPI_Testall(2, requests.data(), &flag, MPI_STATUSES_IGNORE), "MPI_Testall");
      return flag != 0;
    };
    try {
      wait(done, timeout_seconds, complaint);
    } catch (...) {
      if (wait_regardless(done, stay)) continue;
      withdraw(requests, 1);
      throw;
    }
  }
}

void MpiRun::withdraw(std::span<MPI_Request> requests, std::size_t receives) {
  const auto incoming = requests.first(receives);
  for (MPI_Request& request : incoming) {
    if (request != MPI_REQUEST_NULL) report_mpi(MPI_Cancel(&request), "MPI_Cancel");
  }
  const auto all_done = [&] {
    int flag = 0;
    report_mpi(MPI_Testall(static_cast<int>(receives), incoming.data(), &flag, MPI_STATUSES_IGNORE),
               "MPI_Testall");
    return flag != 0;
  };
  if (!wait_regardless(all_done, kLastBytes)) {
    end_mpi_job(fmt::format("{} (rank {} ends the job: a message to it never came to its end)",
                            abort_.raised() ? abort_.error().what() : "[mpi] a wait was broken off",
                            rank_));
  }
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) report_mpi(MPI_Request_free(&request), "MPI_Request_free");
  }
}

bool MpiRun::wait_regardless(const std::function<bool()>& done, Clock::duration limit) {
  const auto start = Clock::now();
  for (int round = 0; !done(); ++round) {
    if (Clock::now() - start > limit) return false;
    if (round % 8 == 7) look_for_messages();
    pause(round);
  }
  return true;
}

void MpiRun::look_for_messages() {
  for (;;) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status{};
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, control_.get(), &found, &message, &status),
              "MPI_Improbe");
    if (found == 0) return;
    int bytes = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    std::string data(static_cast<std::size_t>(bytes), '\0');
    check_mpi(MPI_Mrecv(data.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    if (status.MPI_TAG == kAbort) {
      std::int32_t odd_rank = -1;
      std::memcpy(&odd_rank, data.data(), sizeof odd_rank);
      abort_.raise(Failure(data.substr(sizeof odd_rank), odd_rank));
    } else if (status.MPI_TAG == kQuestion) {
      Question question{};
      std::memcpy(&question, data.data(), sizeof question);
      answer(question, status.MPI_SOURCE);
    } else {
      Answer reply{};
      std::memcpy(&reply, data.data(), sizeof reply);
      const std::scoped_lock lock(mutex_);
      const auto asked = answers_.find(reply.id);
      if (asked != answers_.end()) asked->second.push_back(reply);
    }
  }
}

void MpiRun::answer(const Question& question, int to) {
  Answer reply{question.id, 0, 0, rank_};
  {
    const std::scoped_lock lock(mutex_);
    const auto group = groups_.find(question.group);
    if (group != groups_.end()) {
      reply.calls = group->second->calls;
      reply.in_call = group->second->in_call ? 1 : 0;
    }
  }
  send(to, kAnswer, &reply, sizeof reply);
}

void MpiRun::send(int to, Tag tag, const void* data, std::size_t bytes) {
  auto sent = std::make_unique<Sent>();
  sent->data.assign(static_cast<const char*>(data), bytes);
  check_mpi(MPI_Isend(sent->data.data(), static_cast<int>(bytes), MPI_BYTE, to, tag, control_.get(),
                      &sent->request),
            "MPI_Isend");
  const std::scoped_lock lock(mutex_);
  sent_.push_back(std::move(sent));
}

void MpiRun::join(std::int64_t group, const GroupProgress* progress) {
  const std::scoped_lock lock(mutex_);
  groups_[group] = progress;
}

void MpiRun::leave(std::int64_t group) {
  const std::scoped_lock lock(mutex_);
  groups_.erase(group);
}

std::vector<int> MpiRun::find_missing(std::int64_t group, std::int64_t call,
                                      const std::vector<int>& members) {
  Question question{group, 0};
  {
    const std::scoped_lock lock(mutex_);
    question.id = ++questions_;
    answers_[question.id] = {};
  }
  for (const int member : members) {
    if (member != rank_) send(member, kQuestion, &question, sizeof question);
  }
  const auto all_answered = [&] {
    const std::scoped_lock lock(mutex_);
    return abort_.raised() || answers_[question.id].size() + 1 == members.size();
  };
  wait_regardless(all_answered, 1s);

  std::vector<int> missing;
  const std::scoped_lock lock(mutex_);
  const auto& answers = answers_[question.id];
  for (const int member : members) {
    const bool there =
        member == rank_ || std::any_of(answers.begin(), answers.end(), [&](const Answer& a) {
          return a.rank == member && a.in_call != 0 && a.calls >= call;
        });
    if (!there) missing.push_back(member);
  }
  answers_.erase(question.id);
  return missing;
}

}  // namespace zerolab
