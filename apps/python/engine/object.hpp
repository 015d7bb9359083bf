// Objects of Python's, counted, and its errors as exceptions.
#pragma once

#include <Python.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace headway::python {

/// A Python error is set: it goes on to the caller.
struct Raised {};

/// Owns one reference, or none.
class Object {
 public:
  Object() = default;
  /// A new reference, as most calls of Python's give: null where they raised.
  explicit Object(PyObject* owned) : held_(owned) {
    if (held_ == nullptr) throw Raised();
  }
  static Object borrowed(PyObject* object) {
    Py_XINCREF(object);
    return Object(object);
  }
  Object(Object&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Object() { Py_XDECREF(held_); }

  PyObject* get() const { return held_; }
  PyObject* release() { return std::exchange(held_, nullptr); }

 private:
  PyObject* held_ = nullptr;
};

inline Object to_python(std::string_view text) {
  return Object(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

inline std::string to_text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const begin = PyUnicode_AsUTF8AndSize(text, &size);
  if (begin == nullptr) throw Raised();
  return std::string(begin, static_cast<std::size_t>(size));
}

inline void append(const Object& list, const Object& item) {
  if (PyList_Append(list.get(), item.get()) != 0) throw Raised();
}

inline void set(const Object& dict, const std::string& name, const Object& value) {
  if (PyDict_SetItemString(dict.get(), name.c_str(), value.get()) != 0) throw Raised();
}

/// What a function of the module does; null, and a Python error, where it failed.
template <class Body>
PyObject* guarded(const Body& body) {
  try {
    return body().release();
  } catch (const Raised&) {
  } catch (const std::exception& failed) {
    PyErr_SetString(PyExc_RuntimeError, failed.what());
  }
  return nullptr;
}

/// Lets other threads of Python's run while it lives.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() { PyEval_RestoreThread(state_); }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace headway::python
