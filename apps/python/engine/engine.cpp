// The engine as Python calls it: requests in, documents and columns out. The package around it
// (apps/python/package/headway) makes of them what people use.
#include <Python.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "api/forecasts/forecasts.hpp"
#include "arrow.hpp"
#include "fields.hpp"
#include "object.hpp"
#include "work.hpp"

namespace headway::python {
namespace {

// [(where, message, [near])]
Object listed(const Problems& problems) {
  Object out(PyList_New(0));
  for (const Problem& problem : problems) {
    const Object near(PyList_New(0));
    for (const std::int64_t number : problem.near)
      append(near, Object(PyLong_FromLongLong(number)));
    const Object where = to_python(where_text(problem)), message = to_python(problem.message);
    append(out, Object(PyTuple_Pack(3, where.get(), message.get(), near.get())));
  }
  return out;
}

// answer(command, request, threads, told, as_text): (text, exit code, problems, warnings) of a
// command, as on the command line.
PyObject* answered(PyObject*, PyObject* arguments) {
  return guarded([&] {
    const char *command = nullptr, *request = nullptr;
    Py_ssize_t length = 0;
    int threads = 0, as_text = 0;
    PyObject* told = nullptr;
    if (PyArg_ParseTuple(arguments, "ss#iOp", &command, &request, &length, &threads, &told,
                         &as_text) == 0) {
      throw Raised();
    }
    AnswerOptions options{.threads = threads, .own = true, .as_text = as_text != 0};
    const std::string body(request, static_cast<std::size_t>(length));
    CommandOutput output;
    run_watched(
        [&](const Progress& progress) {
          options.progress = progress;
          output = answer(command, body, options);
        },
        told);
    const Object text = to_python(output.text), code(PyLong_FromLong(output.exit_code));
    const Object problems = listed(output.problems), warnings = listed(output.warnings);
    return Object(PyTuple_Pack(4, text.get(), code.get(), problems.get(), warnings.get()));
  });
}

// A forecast, whose document is not written yet.
constexpr char kPredicted[] = "headway._engine.Predicted";
PredictedRun* held_by(PyObject* capsule) {
  auto* held = static_cast<PredictedRun*>(PyCapsule_GetPointer(capsule, kPredicted));
  if (held == nullptr) throw Raised();
  return held;
}

// predict(fields): the forecast of plain fields, whether it fits, and its step time; None where the
// fields are not plain, or no legal run.
PyObject* predicted(PyObject*, PyObject* arguments) {
  return guarded([&] {
    const auto fields = PyDict_Check(arguments) ? fields_of(arguments) : std::nullopt;
    std::unique_ptr<PredictedRun> found;
    if (fields) {
      const Released others;
      thread_local KeptCalibration kept;  // one run after the other, often of one machine
      auto run = predicted_run(*fields, kept);
      if (run) found = std::move(run).value();
    }
    if (!found) return Object::borrowed(Py_None);
    const Object fits(PyBool_FromLong(found->forecast.fits));
    const Object step_time(PyFloat_FromDouble(found->forecast.step_time.value()));
    const Object capsule(PyCapsule_New(found.get(), kPredicted, [](PyObject* each) {
      delete static_cast<PredictedRun*>(PyCapsule_GetPointer(each, kPredicted));
    }));
    static_cast<void>(found.release());  // the capsule's
    return Object(PyTuple_Pack(3, capsule.get(), fits.get(), step_time.get()));
  });
}

// number(predicted, name): what has a column in a sweep; None: no such.
PyObject* number(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    const char* name = nullptr;
    if (PyArg_ParseTuple(arguments, "Os", &capsule, &name) == 0) throw Raised();
    const Forecast& forecast = held_by(capsule)->forecast;
    if (std::string_view(name) == "fits") return Object(PyBool_FromLong(forecast.fits));
    for (const ForecastColumn& column : forecast_columns()) {
      if (column.name == name) return Object(PyFloat_FromDouble(column.of(forecast)));
    }
    return Object::borrowed(Py_None);
  });
}

// document(predicted): what `predict --json` prints.
PyObject* document(PyObject*, PyObject* capsule) {
  return guarded([&] {
    const PredictedRun* run = held_by(capsule);
    std::string text;
    {
      const Released others;
      text = json_of(*run);
    }
    return to_python(text);
  });
}

// (address, length, owner) of a column, for NumPy to show as it lies.
template <class Number>
Object column_of(std::vector<Number> numbers) {
  auto* held = new std::vector<Number>(std::move(numbers));
  const Object owner(PyCapsule_New(held, nullptr, [](PyObject* each) {
    delete static_cast<std::vector<Number>*>(PyCapsule_GetPointer(each, nullptr));
  }));
  const Object address(PyLong_FromVoidPtr(held->data())), length(PyLong_FromSize_t(held->size()));
  return Object(PyTuple_Pack(3, address.get(), length.get(), owner.get()));
}

std::vector<std::string> texts_of(PyObject* list) {
  std::vector<std::string> out;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i)
    out.push_back(to_text(PyList_GetItem(list, i)));
  return out;
}

// (name, texts, address of uint32, length): the caller keeps them while it waits.
SweptField swept_field(PyObject* tuple) {
  const char* name = nullptr;
  PyObject *texts = nullptr, *address = nullptr;
  Py_ssize_t rows = 0;
  if (PyArg_ParseTuple(tuple, "sO!On", &name, &PyList_Type, &texts, &address, &rows) == 0) {
    throw Raised();
  }
  const auto* places = static_cast<const std::uint32_t*>(PyLong_AsVoidPtr(address));
  if (PyErr_Occurred() != nullptr) throw Raised();
  SweptField out{name, texts_of(texts), {}};
  if (rows > 0) out.of_row.assign(places, places + rows);
  for (const std::uint32_t place : out.of_row) {
    if (place < out.texts.size()) continue;
    PyErr_SetString(PyExc_IndexError, "a place among no values");
    throw Raised();
  }
  return out;
}

// sweep(base, fields, threads, told): (problems, columns by name, problem of each row, what they
// say) of rows that differ in some fields.
PyObject* swept(PyObject*, PyObject* arguments) {
  return guarded([&] {
    const char* base = nullptr;
    PyObject *list = nullptr, *told = nullptr;
    int threads = 0;
    if (PyArg_ParseTuple(arguments, "sO!iO", &base, &PyList_Type, &list, &threads, &told) == 0) {
      throw Raised();
    }
    std::vector<SweptField> fields;
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
      fields.push_back(swept_field(PyList_GetItem(list, i)));
      if (fields.back().of_row.size() == fields.front().of_row.size()) continue;
      PyErr_SetString(PyExc_ValueError, "fields of different lengths");
      throw Raised();
    }
    Result<ForecastTable> found = ForecastTable();
    run_watched(
        [&](const Progress& progress) {
          const auto given = run_fields_of(base);
          found = given ? forecast_rows(*given, fields, threads, progress)
                        : Result<ForecastTable>(given.problems());
        },
        told);
    const Object columns(PyDict_New()), sentences(PyList_New(0));
    const Object problems = listed(found ? Problems{} : found.problems());
    if (!found) found = ForecastTable();
    const auto named = forecast_columns();
    for (std::size_t i = 0; i < found->columns.size(); ++i) {
      set(columns, named[i].name, column_of(std::move(found->columns[i])));
    }
    for (const std::string& sentence : found->problems) append(sentences, to_python(sentence));
    const Object problem = column_of(std::move(found->problem));
    return Object(PyTuple_Pack(4, problems.get(), columns.get(), problem.get(), sentences.get()));
  });
}

// arrow_stream(names, values, rows): of columns that are lists of texts, or (address of float64,
// owner).
PyObject* streamed(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *names = nullptr, *values = nullptr;
    Py_ssize_t rows = 0;
    if (PyArg_ParseTuple(arguments, "O!O!n", &PyList_Type, &names, &PyList_Type, &values, &rows) ==
        0) {
      throw Raised();
    }
    ArrowColumns out;
    out.owner = Object::borrowed(values);
    out.rows = static_cast<std::size_t>(rows);
    const std::vector<std::string> named = texts_of(names);
    for (std::size_t i = 0; i < named.size(); ++i) {
      PyObject* const value = PyList_GetItem(values, static_cast<Py_ssize_t>(i));
      if (value == nullptr) throw Raised();
      ArrowColumn column{.name = named[i]};
      if (PyList_Check(value)) {
        column.offsets = {0};
        for (const std::string& text : texts_of(value)) {
          column.bytes += text;
          column.offsets.push_back(static_cast<std::int64_t>(column.bytes.size()));
        }
      } else {
        PyObject *address = nullptr, *owner = nullptr;
        if (PyArg_ParseTuple(value, "OO", &address, &owner) == 0) throw Raised();
        column.numbers = static_cast<const double*>(PyLong_AsVoidPtr(address));
        if (PyErr_Occurred() != nullptr) throw Raised();
      }
      out.columns.push_back(std::move(column));
    }
    return arrow_stream(std::move(out));
  });
}

PyMethodDef kFunctions[] = {
    {"answer", answered, METH_VARARGS, "what a command answers to a request"},
    {"predict", predicted, METH_O, "the forecast of plain fields"},
    {"number", number, METH_VARARGS, "a number of a forecast"},
    {"document", document, METH_O, "the document of a forecast"},
    {"sweep", swept, METH_VARARGS, "forecasts of many rows"},
    {"arrow_stream", streamed, METH_VARARGS, "columns for readers of Arrow"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "_engine",
                       "The engine of Headway. Use the package headway, which is made of it.",
                       -1,
                       kFunctions,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace
}  // namespace headway::python

PyMODINIT_FUNC PyInit__engine() {
  return PyModule_Create(&headway::python::kModule);
}
