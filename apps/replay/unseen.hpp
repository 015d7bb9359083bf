// MPI's own functions, where a recorder has put others before them under both of their names: what
// a replay needs besides its list is not recorded.
#pragma once

#include <mpi.h>

namespace headway::replay::unseen {

void barrier(MPI_Comm on);
void broadcast(void* data, int count, MPI_Datatype type);
/// On rank 0 the largest of each of all ranks.
void largest(const double* own, double* out, int count);

}  // namespace headway::replay::unseen
