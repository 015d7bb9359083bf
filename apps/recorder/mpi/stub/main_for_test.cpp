// A program of a kind of MPI that is not known: ends with 4 if its calls reached the library.
extern "C" {
int MPI_Init(int* count, char*** words);
int MPI_Finalize();
int MPI_Abi_get_version(int* major, int* minor);
}

int main(int argc, char** argv) {
  int major = 0, minor = 0;
  const bool fine = MPI_Init(&argc, &argv) == 0 && MPI_Abi_get_version(&major, &minor) == 0 &&
                    MPI_Finalize() == 0;
  return fine && major == 1 ? 4 : 1;
}
