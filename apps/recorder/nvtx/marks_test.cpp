// Steps marked by ranges of NVTX, without NVTX: what its header does is done here.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "nvtx.hpp"

namespace headway {
namespace {

namespace nvtx = recorder::nvtx;

int steps = 0;

// A copy of NVTX: where its functions stand, and what it tells a tool of them.
struct Copy {
  void (*functions[16])() = {};
  void (**at[16])() = {};
};
Copy core, core2;

int table_of(int module, nvtx::Table* table, unsigned* size) {
  Copy* copy = module == nvtx::kCore ? &core : module == nvtx::kCore2 ? &core2 : nullptr;
  if (copy == nullptr) return 0;
  for (int i = 0; i < 16; ++i) copy->at[i] = i == 0 ? nullptr : &copy->functions[i];
  *table = copy->at;
  *size = 16;
  return 1;
}
const void* export_table(std::uint32_t number) {
  static const nvtx::Callbacks callbacks = {sizeof(nvtx::Callbacks), table_of};
  return number == nvtx::kCallbacks ? &callbacks : nullptr;
}

template <class Function>
Function* of(const Copy& copy, unsigned number) {
  return reinterpret_cast<Function*>(copy.functions[number]);
}

class NvtxMarks : public ::testing::Test {
 protected:
  void SetUp() override {
    core = core2 = Copy();
    steps = 0;
    library_ = ::dlopen(HEADWAY_NVTX, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    using Tell = void (*)(void (*)());
    reinterpret_cast<Tell>(::dlsym(library_, "headway_nvtx_tell"))([] { ++steps; });
  }
  void TearDown() override {
    ::unsetenv("HEADWAY_RECORD_STEP_RANGE");
    if (library_ != nullptr) ::dlclose(library_);
  }
  int attach() const {
    using Attach = int (*)(nvtx::GetExportTable);
    return reinterpret_cast<Attach>(::dlsym(library_, "InitializeInjectionNvtx2"))(export_table);
  }
  static nvtx::Event event(nvtx::MessageType type, const void* message) {
    nvtx::Event out{};
    out.size = sizeof out;
    out.message_type = type;
    std::memcpy(&out.message, &message, sizeof message);
    return out;
  }
  void* library_ = nullptr;
};

TEST_F(NvtxMarks, ARangeOrMarkOfTheNameIsAStepInWhateverWayItIsSaid) {
  ::setenv("HEADWAY_RECORD_STEP_RANGE", "train step", 1);
  ASSERT_EQ(attach(), 1);
  // As where no tool is: -2, "push and pop are not tracked".
  EXPECT_EQ(of<int(const char*)>(core, 9)("train step"), -2);
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(of<int(const wchar_t*)>(core, 10)(L"train step"), -2);
  of<void(const char*)>(core, 2)("train step");
  of<std::uint64_t(const char*)>(core, 5)("train step");
  EXPECT_EQ(steps, 4);
  const nvtx::Event ascii = event(nvtx::kAscii, "train step"),
                    wide = event(nvtx::kUnicode, L"train step");
  of<int(const nvtx::Event*)>(core, 8)(&ascii);
  of<void(const nvtx::Event*)>(core, 1)(&wide);
  of<int(void*, const nvtx::Event*)>(core2, 4)(nullptr, &ascii);
  of<std::uint64_t(void*, const nvtx::Event*)>(core2, 2)(nullptr, &ascii);
  EXPECT_EQ(steps, 8);
  // A string that the program registered and says by its handle.
  const nvtx::Event registered =
      event(nvtx::kRegistered, of<void*(void*, const char*)>(core2, 10)(nullptr, "train step"));
  of<int(void*, const nvtx::Event*)>(core2, 4)(nullptr, &registered);
  EXPECT_EQ(steps, 9);
}

TEST_F(NvtxMarks, OtherNamesAreNone) {
  ::setenv("HEADWAY_RECORD_STEP_RANGE", "train step", 1);
  ASSERT_EQ(attach(), 1);
  for (const char* name : {"train", "train step 2", "", "Train step"}) {
    of<int(const char*)>(core, 9)(name);
  }
  of<int(const wchar_t*)>(core, 10)(L"train");
  of<int(const wchar_t*)>(core, 10)(L"train steps");
  of<int(const char*)>(core, 9)(nullptr);
  of<int(const nvtx::Event*)>(core, 8)(nullptr);
  nvtx::Event older = event(nvtx::kAscii, "train step");
  older.size = 16;  // too small to hold a message
  of<int(const nvtx::Event*)>(core, 8)(&older);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(core.functions[11], nullptr);  // the end of a range: nothing is wanted of it
}

TEST_F(NvtxMarks, WithoutANameNothingIsAttached) {
  EXPECT_EQ(attach(), 0);
  EXPECT_EQ(core.functions[9], nullptr);
}

}  // namespace
}  // namespace headway
