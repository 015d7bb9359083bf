// Work that does not hold Python up: other threads of it run meanwhile, Ctrl-C stops it, and a
// callable is told how far it is.
#pragma once

#include <Python.h>

#include <functional>

#include "platform/parallel.hpp"

namespace headway::python {

/// Runs `work` on a thread of its own, which is handed what to tell of its progress. `told`, a
/// callable or None, is called with (done, of) about ten times a second; what it or a signal raises
/// stops the work and is thrown on as Raised.
void run_watched(const std::function<void(const Progress&)>& work, PyObject* told);

}  // namespace headway::python
