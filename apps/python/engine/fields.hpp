// Keyword arguments as the fields of a run.
#pragma once

#include <Python.h>

#include <optional>

#include "api/forecasts/forecasts.hpp"

namespace headway::python {

/// Of a dict: each field's name with dashes, and its value as text; nothing where a value is
/// neither text nor a number, true or false.
std::optional<RunRequest> fields_of(PyObject* arguments);

}  // namespace headway::python
