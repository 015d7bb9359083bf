#include "libraries.hpp"

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>

namespace headway::replay::nccl {
namespace {

// The first of these names that the loader finds.
void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* found = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return found;
  }
  return nullptr;
}

std::string version_text(int code) {
  const auto [major, minor, patch] = recorder::nccl::version_of(code);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

class Lookup {
 public:
  Lookup(void* library, std::string of, Problems& problems)
      : library_(library), of_(std::move(of)), problems_(problems) {}
  template <class Function>
  void operator()(Function*& function, const std::string& name) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name.c_str()));
    if (function != nullptr) return;
    problems_.push_back({"replay", of_ + " has no " + name + ": it is too old to be called here"});
  }

 private:
  void* library_;
  std::string of_;
  Problems& problems_;
};

}  // namespace

Result<Libraries> open_libraries(bool multiplies) {
  Libraries out;
  Problems problems;
  void* const nccl = open_first({"libnccl.so.2"});
  void* const rccl = nccl == nullptr ? open_first({"librccl.so.1"}) : nullptr;
  if (nccl == nullptr && rccl == nullptr) {
    problems.push_back(
        {"replay",
         "neither libnccl.so.2 nor librccl.so.1 is found: install NCCL (libnccl2 of NVIDIA's "
         "packages, nvidia-nccl-cu12 of PyPI) and name its folder in LD_LIBRARY_PATH, or replay by "
         "torch (--launcher \"torchrun --nproc-per-node N\")"});
  }
  const bool hip = rccl != nullptr;
  void* const device =
      hip ? open_first({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
          : open_first({"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  if (device == nullptr) {
    problems.push_back(
        {"replay", hip ? "libamdhip64.so is not found: install HIP's runtime and name its folder "
                         "in LD_LIBRARY_PATH"
                       : "libcudart.so.13, .12 or .11.0 is not found: install CUDA's runtime "
                         "(cuda-cudart, nvidia-cuda-runtime-cu12 of PyPI) and name its folder in "
                         "LD_LIBRARY_PATH"});
  }
  void* blas = nullptr;
  if (multiplies && hip) {
    problems.push_back(
        {FieldName("compute"),
         "gemm makes products by cuBLAS, which RCCL's machines lack: --compute spin, "
         "or by torch (--launcher torchrun)"});
  } else if (multiplies) {
    blas = open_first({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
    if (blas == nullptr) {
      problems.push_back({FieldName("compute"),
                          "gemm makes products by libcublas.so.13, .12 or .11, and none is found: "
                          "name its folder in LD_LIBRARY_PATH, or --compute spin"});
    }
  }
  if (!problems.empty()) return problems;
  const std::string of_device = hip ? "hip" : "cuda";
  Lookup of_calls(hip ? rccl : nccl, hip ? "RCCL" : "NCCL", problems),
      of_runtime(device, hip ? "HIP" : "CUDA's runtime", problems),
      of_products(blas, "cuBLAS", problems);
#define NCCL(function, ...) of_calls(out.function, #function);
#define DEVICE(function, ...) of_runtime(out.function, of_device + #function);
#define BLAS(function, ...) \
  if (blas != nullptr) of_products(out.function, #function);
#include "functions.def"
  if (!problems.empty()) return problems;
  int version = 0;
  out.ncclGetVersion(&version);
  out.name = (hip ? "RCCL " : "NCCL ") + version_text(version);
  return out;
}

void check(int returned, const char* function) {
  if (returned == 0) return;
  throw std::runtime_error(
      std::string(function) + " returned error " + std::to_string(returned) +
      (std::string_view(function).starts_with("nccl") ? ": NCCL_DEBUG=WARN says more" : ""));
}

}  // namespace headway::replay::nccl
