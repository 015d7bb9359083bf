// The fronts of MPI's recorders, as a program finds them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace headway {
namespace {

namespace fs = std::filesystem;

// A program that asks for a function of MPI 4 by its name shall find it only where the MPI has it.
TEST(RecorderFront, ItShowsNoFunctionThatItsLevelLacks) {
  const fs::path folder = fs::path(HEADWAY_RECORDER).parent_path();
  const auto has = [&](const std::string& level, const std::string& function) {
    const std::string command = "nm -D '" + (folder / ("libheadway_mpi" + level + ".so")).string() +
                                "' | grep -q ' T " + function + "$'";
    return std::system(command.c_str()) == 0;
  };
  for (const char* level : {"3", "4", "4c"}) {
    const bool four = level[0] == '4', wide = four && level[1] == 'c';
    EXPECT_TRUE(has(level, "MPI_Send") && has(level, "PMPI_Ineighbor_alltoallw")) << level;
    EXPECT_EQ(has(level, "MPI_Allreduce_init"), four) << level;
    EXPECT_EQ(has(level, "MPI_Psend_init"), four) << level;
    EXPECT_EQ(has(level, "MPI_Isendrecv"), four) << level;
    EXPECT_EQ(has(level, "PMPI_Allreduce_c"), wide) << level;
    EXPECT_EQ(has(level, "MPI_Bcast_init_c"), wide) << level;
  }
}

}  // namespace
}  // namespace headway
