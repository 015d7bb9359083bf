// MPI as its C interface has it.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

// As OpenMPI 5 has it, for a recorder that was built with OpenMPI 4 and watches programs of both.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
typedef struct ompi_instance_t* MPI_Session;
#endif
