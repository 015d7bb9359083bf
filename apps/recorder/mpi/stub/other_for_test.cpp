// A library of MPI of a kind that is not known (as MPI 5's own binary interface is one), as far as
// its program calls it.
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int PMPI_Init(int*, char***) {
  return 0;
}
EXPORTED int MPI_Init(int* count, char*** words) {
  return PMPI_Init(count, words);
}
// Handles and types are numbers here; the sum of its arguments says that all came.
EXPORTED int PMPI_Send(const void* from, int count, long type, int to, int tag, long comm) {
  return from == nullptr && count + type + to + tag + comm == 15 ? 0 : 1;
}
EXPORTED int MPI_Send(const void* from, int count, long type, int to, int tag, long comm) {
  return PMPI_Send(from, count, type, to, tag, comm);
}
// Seven arguments and more stand on the stack.
EXPORTED int PMPI_Allgather(const void* from, int sends, long sent, void* to, int receives,
                            long received, long comm) {
  return from == nullptr && to == nullptr && sends + sent + receives + received + comm == 15 ? 0
                                                                                             : 1;
}
EXPORTED int MPI_Allgather(const void* from, int sends, long sent, void* to, int receives,
                           long received, long comm) {
  return PMPI_Allgather(from, sends, sent, to, receives, received, comm);
}
EXPORTED int PMPI_Finalize() {
  return 0;
}
EXPORTED int MPI_Finalize() {
  return PMPI_Finalize();
}
EXPORTED int MPI_Abi_get_version(int* major, int* minor) {
  *major = 1, *minor = 0;
  return 0;
}
