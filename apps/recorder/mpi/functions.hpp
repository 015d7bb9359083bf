// The functions that are recorded, by their numbers.
#pragma once

namespace headway::recorder {

/// Their names as a list of JSON.
const char* function_names();

enum Function : unsigned {
#define CALL(row, form, width, function) k##function,
#include "forms.def"
#undef CALL
  kFunctions
};

}  // namespace headway::recorder
