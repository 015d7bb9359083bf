// A program of a kind of MPI that is not known: ends with 4 if its calls reached the library.
extern "C" {
int MPI_Init(int* count, char*** words);
int MPI_Finalize();
int MPI_Send(const void*, int, long, int, int, long);
int MPI_Allgather(const void*, int, long, void*, int, long, long);
int MPI_Abi_get_version(int* major, int* minor);
}

int main(int argc, char** argv) {
  int major = 0, minor = 0;
  bool fine = MPI_Init(&argc, &argv) == 0 && MPI_Abi_get_version(&major, &minor) == 0;
  for (int i = 0; i < 3; ++i) fine = fine && MPI_Send(nullptr, 1, 2, 3, 4, 5) == 0;
  fine = fine && MPI_Allgather(nullptr, 1, 2, nullptr, 3, 4, 5) == 0 && MPI_Finalize() == 0;
  return fine && major == 1 ? 4 : 1;
}
