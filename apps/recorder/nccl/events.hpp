// Times of calls on the device: two events around what was put into a stream, taken from a pool and
// read by a thread when the device has passed them. Nothing waits for the device, neither the
// program nor the thread.
#pragma once

#include <cstddef>

#include "trace/recording/record_file.hpp"

namespace headway::recorder::nccl {

struct Stream;
struct Pair;  // of events

/// Before all else: finds the device's functions.
void find_events(bool hip);

/// Before the first pair: starts the thread. False: times are not to be had.
bool begin_events();

/// What lies before a call: two events to spare for the stream, if it is `timed`, or why not.
struct Marked {
  Pair* pair = nullptr;
  bool captured = false;  // the stream's calls go into a graph: they run later, as often as it does
};
Marked mark_begin(Stream* stream, bool timed);

/// Behind the call; false: the device refused, the pair is given back.
bool mark_end(Pair* pair, Stream* stream);

/// The records whose time is that between the pair's events, and start at the first: they are put
/// into the file when the device is there. Taken over.
void keep_until_passed(Pair* pair, const record_file::Record* records, std::size_t count);

/// The call failed: of no use any more.
void give_back(Pair* pair);

/// Puts all records into the file: those that the device has not passed yet without its time.
void end_events();
/// In the child of a fork.
void abandon_events();

}  // namespace headway::recorder::nccl
