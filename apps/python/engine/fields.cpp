#include "fields.hpp"

#include <algorithm>
#include <string>

#include "base/formatted.hpp"

namespace headway::python {
namespace {

std::optional<std::string> utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* begin = PyUnicode_AsUTF8AndSize(text, &size);
  if (begin == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return std::string(begin, static_cast<std::size_t>(size));
}

std::optional<std::string> text_of(PyObject* object) {
  if (PyUnicode_Check(object)) return utf8(object);
  if (PyBool_Check(object)) return object == Py_True ? "true" : "false";
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) return std::nullopt;
    return std::to_string(whole);
  }
  if (PyFloat_Check(object)) {
    return shortest_text(PyFloat_AsDouble(object));
  }
  return std::nullopt;
}

}  // namespace

std::optional<RunRequest> fields_of(PyObject* arguments) {
  RunRequest out;
  Py_ssize_t at = 0;
  PyObject *key = nullptr, *value = nullptr;
  while (PyDict_Next(arguments, &at, &key, &value) != 0) {
    auto name = utf8(key);
    auto text = text_of(value);
    if (!name || !text) return std::nullopt;
    std::replace(name->begin(), name->end(), '_', '-');
    out.push_back({*name, std::move(*text), member(*name)});
  }
  return out;
}

}  // namespace headway::python
