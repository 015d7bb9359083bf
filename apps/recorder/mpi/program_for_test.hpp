// The modes of program_for_test, and what they know of themselves.
#pragma once

#include "headway/record.h"
#include "mpi.hpp"

namespace program_for_test {

inline int rank = 0, world = 1;
inline const char* program = "";

int version4();
int of_sessions();
int killed();
int crashed();
int aborted();
int forked();
int left();
int many();
int limited();
int profiled();
int duplicates();
int spawning();
int spawned();
int exposed();

}  // namespace program_for_test
