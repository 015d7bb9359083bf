// A library of MPI of a kind that is not known (as MPI 5's own binary interface is one), as far as
// its program calls it.
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int PMPI_Init(int*, char***) {
  return 0;
}
EXPORTED int MPI_Init(int* count, char*** words) {
  return PMPI_Init(count, words);
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
