// What the front, which every program gets, asks of the recorder of one kind of MPI.
#pragma once

namespace headway::recorder {

struct RecordedFunction {
  const char* name;
  void* wrapper;
  void** real;  // the library's own, to be set before the wrapper is called
};

/// Exported as headway_mpi_recorder. Functions in the order of the table.
struct MpiRecorder {
  const RecordedFunction* functions;
  unsigned count;
  void (*step)();
};

}  // namespace headway::recorder
