// Libraries that the program has loaded, whoever can see them. Nothing is loaded here.
#pragma once

namespace headway::recorder::nccl {

/// The one that defines the function itself and is not this one; null: none.
void* loaded_library_with(const char* function);

/// The one whose file's name begins so ("libcuda.so"); null: none.
void* loaded_library_named(const char* beginning);

}  // namespace headway::recorder::nccl
