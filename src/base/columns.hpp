// How wide text is made.
#pragma once

#include <cstddef>

namespace headway {

/// Columns of text where no terminal says how many it has.
constexpr std::size_t kUsualColumns = 80;

/// The columns of what `wrapped` makes on this thread.
std::size_t text_columns();

/// The same of `aligned`. Without a terminal a table has as many as it takes: programs read it.
std::size_t table_columns();

/// Sets both while it lives: width is of the medium, not of the answer, and whoever writes to one
/// knows it. 0: there is no terminal.
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
