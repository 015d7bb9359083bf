// The file of a process that is one rank or, with a device each, several; and who it is in a group.
#pragma once

#include <cstdint>

namespace headway::recorder::nccl {

/// Begins the file with the first communicator: `size` ranks, of which this is `rank`. False where
/// it cannot, which is said on the standard error.
bool begin_member_file(int size, int rank, const char* library, const char* functions);

/// Which of the process's ranks uses the device; -1: the first. A new one is told.
std::uint32_t local_of(int device, int size, int rank);

/// Whether this process is one rank, with one device.
bool is_one_rank();

/// Tells that the process's rank `local` has place `rank` in the group.
void tell_member(std::uint32_t number, int size, int rank, std::uint32_t local);

/// Ends the file; to be called once.
void end_member_file();

}  // namespace headway::recorder::nccl
