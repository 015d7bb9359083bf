// How wide text is made.
#pragma once

#include <cstddef>

namespace headway {

/// Columns of a terminal where none is known.
constexpr std::size_t kUsualColumns = 80;

/// The columns of what `aligned` and `wrapped` make on this thread.
std::size_t text_columns();

/// Sets them while it lives: width is of the medium, not of the answer, and whoever writes to one
/// knows it.
class TextColumns {
 public:
  explicit TextColumns(std::size_t columns);
  ~TextColumns();
  TextColumns(const TextColumns&) = delete;
  TextColumns& operator=(const TextColumns&) = delete;

 private:
  std::size_t before_;
};

}  // namespace headway
