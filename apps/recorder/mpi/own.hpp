// The functions of the rows OWN of calls.def.
#pragma once

#include "mpi.hpp"

namespace headway::recorder::own {

#define OWN_FUNCTION(Name, ...)             \
  struct Name {                             \
    inline static int (*real)(__VA_ARGS__); \
    static int call(__VA_ARGS__);           \
  };
OWN_FUNCTION(Psend_init, const void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
             MPI_Request*)
OWN_FUNCTION(Precv_init, void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
             MPI_Request*)
OWN_FUNCTION(Comm_idup, MPI_Comm, MPI_Comm*, MPI_Request*)
OWN_FUNCTION(Comm_idup_with_info, MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*)
OWN_FUNCTION(Comm_spawn, const char*, char**, int, MPI_Info, int, MPI_Comm, MPI_Comm*, int*)
OWN_FUNCTION(Comm_spawn_multiple, int, char**, char***, const int*, const MPI_Info*, int, MPI_Comm,
             MPI_Comm*, int*)
OWN_FUNCTION(Win_test, MPI_Win, int*)
OWN_FUNCTION(Start, MPI_Request*)
OWN_FUNCTION(Startall, int, MPI_Request*)
OWN_FUNCTION(Request_free, MPI_Request*)
OWN_FUNCTION(Wait, MPI_Request*, MPI_Status*)
OWN_FUNCTION(Waitall, int, MPI_Request*, MPI_Status*)
OWN_FUNCTION(Waitany, int, MPI_Request*, int*, MPI_Status*)
OWN_FUNCTION(Waitsome, int, MPI_Request*, int*, int*, MPI_Status*)
OWN_FUNCTION(Test, MPI_Request*, int*, MPI_Status*)
OWN_FUNCTION(Testall, int, MPI_Request*, int*, MPI_Status*)
OWN_FUNCTION(Testany, int, MPI_Request*, int*, int*, MPI_Status*)
OWN_FUNCTION(Testsome, int, MPI_Request*, int*, int*, MPI_Status*)
OWN_FUNCTION(Init, int*, char***)
OWN_FUNCTION(Init_thread, int*, char***, int, int*)
OWN_FUNCTION(Finalize, )
OWN_FUNCTION(Abort, MPI_Comm, int)
OWN_FUNCTION(Session_init, MPI_Info, MPI_Errhandler, MPI_Session*)
OWN_FUNCTION(Session_finalize, MPI_Session*)
#undef OWN_FUNCTION

}  // namespace headway::recorder::own
