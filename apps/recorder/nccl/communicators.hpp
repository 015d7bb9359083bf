// Communicators as groups: a number that all their members know without a word between them, their
// size, and which place in it this process has. Who the others are, their own files say.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "abi.hpp"

namespace headway::recorder::nccl {

struct Group {
  Comm comm = nullptr;
  std::uint32_t number = 0;
  int size = 0;             // 0: not known yet, for the communicator is not ready
  int rank = -1;            // place of this process in it
  std::uint32_t local = 0;  // which of the ranks that this process is (record_file.hpp)
  std::atomic<std::uint32_t> collectives{0};
  std::atomic<std::uint32_t> made_of_it{0};  // splits, shrinks, growths
  std::atomic<bool> told{false};             // the file says who its members are
  Group* next = nullptr;
};

/// A communicator that was made; size and rank may be unknown (0, -1): it is asked when it is used.
void add_group(Comm comm, std::uint32_t number, int size, int rank);
/// It ends: its handle may stand for another one soon.
void remove_group(Comm comm);

/// Of a communicator, with its size and rank if they can be known by now; one that nobody made
/// known before gets a number of its own. Null of none.
Group* group_of(Comm comm);

/// [RECORD-4] Of a communicator that this process alone makes (ncclCommInitAll), or was not seen to
/// make: of no other process.
std::uint32_t number_of_own();

/// The number of a group made of another by a call of all its members.
std::uint32_t number_of_next(Group& parent, char how, const void* bytes, std::size_t size);

}  // namespace headway::recorder::nccl
