#include "own.hpp"

#include <stdlib.h>
#include <string.h>

#include "functions.hpp"
#include "wrap.hpp"

namespace headway::recorder::own {
namespace {

// Copies of what a call overwrites, or room for what the program does not want to know.
template <class T>
class Many {
 public:
  explicit Many(int count) : many_(static_cast<std::size_t>(count > 0 ? count : 0)) {
    at_ = many_ <= kFew ? few_ : static_cast<T*>(::malloc(sizeof(T) * many_));
  }
  Many(int count, const T* from) : Many(count) {
    if (at_ != nullptr && many_ > 0) ::memcpy(at_, from, sizeof(T) * many_);
  }
  ~Many() {
    if (at_ != few_) ::free(at_);
  }
  Many(const Many&) = delete;
  Many& operator=(const Many&) = delete;
  bool there() const { return at_ != nullptr; }
  T* all() { return at_; }
  T& operator[](int i) { return at_[i]; }

 private:
  static constexpr std::size_t kFew = 64;
  std::size_t many_;
  T few_[kFew];
  T* at_;
};

template <std::uint8_t op>
struct PartitionedRow {
  static constexpr std::uint8_t operation = op;
  static constexpr bool receives = false, collective = false;  // the status is an empty one
};

}  // namespace

int Psend_init::call(const void* from, int partitions, MPI_Count count, MPI_Datatype type, int to,
                     int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Inside inside;
  const int result = real(from, partitions, count, type, to, tag, comm, info, request);
  if (!inside.watched() || result != MPI_SUCCESS) return result;
  prepare<PartitionedRow<record_file::kSend>, kMPI_Psend_init>(
      whole(comm, count * partitions, type).with(to, tag), *request);
  return result;
}

int Precv_init::call(void* to, int partitions, MPI_Count count, MPI_Datatype type, int from,
                     int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Inside inside;
  const int result = real(to, partitions, count, type, from, tag, comm, info, request);
  if (!inside.watched() || result != MPI_SUCCESS) return result;
  prepare<PartitionedRow<record_file::kReceive>, kMPI_Precv_init>(
      whole(comm, count * partitions, type).with(from, tag), *request);
  return result;
}

int Comm_idup::call(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  const Inside inside;
  const int result = real(comm, made, request);
  if (inside.watched() && result == MPI_SUCCESS) promise_duplicate(comm, made, *request);
  return result;
}

int Comm_idup_with_info::call(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  const Inside inside;
  const int result = real(comm, info, made, request);
  if (inside.watched() && result == MPI_SUCCESS) promise_duplicate(comm, made, *request);
  return result;
}

// The communicator stands before the codes of errors.
int Comm_spawn::call(const char* command, char** words, int most, MPI_Info info, int root,
                     MPI_Comm comm, MPI_Comm* made, int* codes) {
  const Inside inside;
  const int result = real(command, words, most, info, root, comm, made, codes);
  if (inside.watched() && result == MPI_SUCCESS && *made != MPI_COMM_NULL) group_of(*made);
  return result;
}

int Comm_spawn_multiple::call(int count, char** commands, char*** words, const int* most,
                              const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* made,
                              int* codes) {
  const Inside inside;
  const int result = real(count, commands, words, most, infos, root, comm, made, codes);
  if (inside.watched() && result == MPI_SUCCESS && *made != MPI_COMM_NULL) group_of(*made);
  return result;
}

// As with requests, one that finds nothing done leaves no record.
int Win_test::call(MPI_Win window, int* done) {
  const Inside inside;
  if (!inside.watched()) return real(window, done);
  const std::uint64_t start = ticks();
  const int result = real(window, done);
  if (result == MPI_SUCCESS && *done) put_wait(kMPI_Win_test, start, ticks(), 0);
  return result;
}

int Start::call(MPI_Request* request) {
  const Inside inside;
  if (!inside.watched()) return real(request);
  start_persistent(*request, ticks());
  return real(request);
}

int Startall::call(int count, MPI_Request* requests) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests);
  const std::uint64_t start = ticks();
  for (int i = 0; i < count; ++i) start_persistent(requests[i], start);
  return real(count, requests);
}

int Request_free::call(MPI_Request* request) {
  const Inside inside;
  if (!inside.watched()) return real(request);
  const MPI_Request freed = *request;
  const int result = real(request);
  if (result == MPI_SUCCESS) release(freed);
  return result;
}

int Wait::call(MPI_Request* request, MPI_Status* status) {
  const Inside inside;
  if (!inside.watched()) return real(request, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const MPI_Request waited = *request;
  const std::uint64_t start = ticks();
  const int result = real(request, status);
  const std::uint64_t end = ticks();
  if (result == MPI_SUCCESS) complete(waited, *status, end);
  put_wait(kMPI_Wait, start, end, 1);
  return result;
}

int Waitall::call(int count, MPI_Request* requests, MPI_Status* statuses) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests, statuses);
  Many<MPI_Request> waited(count, requests);
  Many<MPI_Status> own(statuses == MPI_STATUSES_IGNORE ? count : 0);
  if (!waited.there() || !own.there()) return real(count, requests, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = own.all();
  const std::uint64_t start = ticks();
  const int result = real(count, requests, statuses);
  const std::uint64_t end = ticks();
  if (result == MPI_SUCCESS) complete(waited.all(), statuses, count, end);
  put_wait(kMPI_Waitall, start, end, static_cast<std::uint64_t>(count));
  return result;
}

int Waitany::call(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests, index, status);
  MPI_Status own;
  Many<MPI_Request> waited(count, requests);
  if (!waited.there()) return real(count, requests, index, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  const std::uint64_t start = ticks();
  const int result = real(count, requests, index, status);
  const std::uint64_t end = ticks();
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) complete(waited[*index], *status, end);
  put_wait(kMPI_Waitany, start, end, 1);
  return result;
}

namespace {

// Of the forms that complete some: `outcount` of them, at `indices`.
template <class Real>
int some(Real real, int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses,
         bool waits) {
  Many<MPI_Request> waited(count, requests);
  Many<MPI_Status> own(statuses == MPI_STATUSES_IGNORE ? count : 0);
  if (!waited.there() || !own.there()) return real(count, requests, done, indices, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = own.all();
  const std::uint64_t start = ticks();
  const int result = real(count, requests, done, indices, statuses);
  const std::uint64_t end = ticks();
  const int many = result == MPI_SUCCESS && *done != MPI_UNDEFINED ? *done : 0;
  for (int i = 0; i < many; ++i) complete(waited[indices[i]], statuses[i], end);
  if (waits) put_wait(kMPI_Waitsome, start, end, static_cast<std::uint64_t>(many));
  return result;
}

}  // namespace

int Waitsome::call(int count, MPI_Request* requests, int* done, int* indices,
                   MPI_Status* statuses) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests, done, indices, statuses);
  return some(real, count, requests, done, indices, statuses, true);
}

int Testsome::call(int count, MPI_Request* requests, int* done, int* indices,
                   MPI_Status* statuses) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests, done, indices, statuses);
  return some(real, count, requests, done, indices, statuses, false);
}

int Test::call(MPI_Request* request, int* done, MPI_Status* status) {
  const Inside inside;
  if (!inside.watched()) return real(request, done, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const MPI_Request tested = *request;
  const int result = real(request, done, status);
  if (result == MPI_SUCCESS && *done) complete(tested, *status, ticks());
  return result;
}

int Testall::call(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests, done, statuses);
  Many<MPI_Request> tested(count, requests);
  Many<MPI_Status> own(statuses == MPI_STATUSES_IGNORE ? count : 0);
  if (!tested.there() || !own.there()) return real(count, requests, done, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = own.all();
  const int result = real(count, requests, done, statuses);
  if (result != MPI_SUCCESS || !*done) return result;
  complete(tested.all(), statuses, count, ticks());
  return result;
}

int Testany::call(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  const Inside inside;
  if (!inside.watched()) return real(count, requests, index, done, status);
  MPI_Status own;
  Many<MPI_Request> tested(count, requests);
  if (!tested.there()) return real(count, requests, index, done, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(count, requests, index, done, status);
  if (result == MPI_SUCCESS && *done && *index != MPI_UNDEFINED) {
    complete(tested[*index], *status, ticks());
  }
  return result;
}

int Init::call(int* count, char*** words) {
  const Inside inside;
  const int result = real(count, words);
  if (result == MPI_SUCCESS) begin_recording();
  return result;
}

int Init_thread::call(int* count, char*** words, int required, int* provided) {
  const Inside inside;
  const int result = real(count, words, required, provided);
  if (result == MPI_SUCCESS) begin_recording();
  return result;
}

int Finalize::call() {
  const Inside inside;
  end_recording();
  return real();
}

int Session_init::call(MPI_Info info, MPI_Errhandler errors, MPI_Session* session) {
  const Inside inside;
  const int result = real(info, errors, session);
  if (result == MPI_SUCCESS) begin_session(*session);
  return result;
}

int Session_finalize::call(MPI_Session* session) {
  const Inside inside;
  end_session();
  return real(session);
}

int Abort::call(MPI_Comm comm, int code) {
  const Inside inside;
  write_before_abort();
  return real(comm, code);
}

}  // namespace headway::recorder::own
