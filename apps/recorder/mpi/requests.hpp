// Calls that go on after they return: from the post to the wait or test that finds them done.
#pragma once

#include <cstdint>

#include "groups.hpp"
#include "trace/recording/record_file.hpp"

namespace headway::recorder {

/// A call that was posted: its record lacks how long it took.
struct Posted {
  record_file::Record record{};
  Group* group = nullptr;
  bool receives = false;    // how many bytes came says the status
  bool collective = false;  // takes its number in the group when it starts
  bool started = true;      // of persistent ones: between start and wait
  bool persistent = false;
};

/// Keeps the call under its request; a collective takes its number.
void post(MPI_Request request, Posted& call);

/// A persistent call begins.
void start_persistent(MPI_Request request, std::uint64_t start);

/// It was found to be done: its record goes to the file. Requests of others are none of ours.
void complete(MPI_Request request, const MPI_Status& status, std::uint64_t end);
void complete(const MPI_Request* requests, const MPI_Status* statuses, int many, std::uint64_t end);

/// The program lets go of it: when it will be done nobody will know.
void release(MPI_Request request);

/// What is still under way, at the end of the program.
void release_all();

/// Whether any call is under way or may be started.
bool any_posted();

/// Bytes that came, of a receive; and from where.
void set_received(record_file::Record& record, const MPI_Status& status);

}  // namespace headway::recorder
