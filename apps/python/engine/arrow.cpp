#include "arrow.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace headway::python {
namespace {

// The structures of the interface, whose layout it fixes.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

using Shared = std::shared_ptr<ArrowColumns>;

// The owner is Python's: it is let go by a thread that holds the interpreter.
Shared owned(ArrowColumns columns) {
  return Shared(new ArrowColumns(std::move(columns)), [](ArrowColumns* held) {
    const PyGILState_STATE interpreter = PyGILState_Ensure();
    delete held;
    PyGILState_Release(interpreter);
  });
}

// A schema or an array with what it points to; children are of the whole.
template <class Shown>
struct Held {
  Shared columns;
  std::vector<Shown> children;
  std::vector<Shown*> places;
  std::vector<std::array<const void*, 3>> buffers;
};
template <class Shown>
void release_held(Shown* shown) {
  delete static_cast<Held<Shown>*>(shown->private_data);
  shown->release = nullptr;
}
template <class Shown>
void release_child(Shown* shown) {  // what it holds is its parent's
  shown->release = nullptr;
}

template <class Shown>
Held<Shown>* hold(const Shared& columns) {
  auto* held = new Held<Shown>{columns, {}, {}, {}};
  const std::size_t count = columns->columns.size();
  held->children.resize(count);
  held->buffers.resize(count + 1);
  for (Shown& child : held->children) held->places.push_back(&child);
  return held;
}

bool is_text(const ArrowColumn& column) {
  return !column.offsets.empty();
}

void fill_schema(const Shared& columns, ArrowSchema* out) {
  auto* held = hold<ArrowSchema>(columns);
  for (std::size_t i = 0; i < held->children.size(); ++i) {
    const ArrowColumn& column = columns->columns[i];
    held->children[i] = {is_text(column) ? "U" : "g",
                         column.name.c_str(),
                         nullptr,
                         0,
                         0,
                         nullptr,
                         nullptr,
                         release_child<ArrowSchema>,
                         nullptr};
  }
  *out = {"+s",
          "",
          nullptr,
          0,
          static_cast<std::int64_t>(held->children.size()),
          held->places.data(),
          nullptr,
          release_held<ArrowSchema>,
          held};
}

void fill_array(const Shared& columns, ArrowArray* out) {
  auto* held = hold<ArrowArray>(columns);
  const auto rows = static_cast<std::int64_t>(columns->rows);
  for (std::size_t i = 0; i < held->children.size(); ++i) {
    const ArrowColumn& column = columns->columns[i];
    auto& buffers = held->buffers[i];
    if (is_text(column)) {
      buffers = {nullptr, column.offsets.data(), column.bytes.data()};
    } else {
      buffers = {nullptr, column.numbers, nullptr};
    }
    held->children[i] = {rows,           0,       0,       is_text(column) ? 3 : 2,   0,
                         buffers.data(), nullptr, nullptr, release_child<ArrowArray>, nullptr};
  }
  auto& none = held->buffers.back();
  none = {nullptr, nullptr, nullptr};
  *out = {rows,
          0,
          0,
          1,
          static_cast<std::int64_t>(held->children.size()),
          none.data(),
          held->places.data(),
          nullptr,
          release_held<ArrowArray>,
          held};
}

struct Stream {
  Shared columns;
  bool given = false;
};
Stream& of(ArrowArrayStream* stream) {
  return *static_cast<Stream*>(stream->private_data);
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

void release_capsule(PyObject* capsule) noexcept {
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace

Object arrow_stream(ArrowColumns columns) {
  auto* stream = new ArrowArrayStream{[](ArrowArrayStream* asked, ArrowSchema* out) {
                                        fill_schema(of(asked).columns, out);
                                        return 0;
                                      },
                                      [](ArrowArrayStream* asked, ArrowArray* out) {
                                        if (of(asked).given) {
                                          *out = {};  // the end
                                        } else {
                                          fill_array(of(asked).columns, out);
                                        }
                                        of(asked).given = true;
                                        return 0;
                                      },
                                      [](ArrowArrayStream*) -> const char* { return nullptr; },
                                      release_stream, new Stream{owned(std::move(columns))}};
  return Object(PyCapsule_New(stream, "arrow_array_stream", release_capsule));
}

}  // namespace headway::python
