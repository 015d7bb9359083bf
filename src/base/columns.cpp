#include "base/columns.hpp"

#include <limits>

namespace headway {
namespace {

thread_local std::size_t columns_of_this_thread = 0;

}  // namespace

std::size_t text_columns() {
  return columns_of_this_thread > 0 ? columns_of_this_thread : kUsualColumns;
}
std::size_t table_columns() {
  return columns_of_this_thread > 0 ? columns_of_this_thread
                                    : std::numeric_limits<std::size_t>::max();
}
TextColumns::TextColumns(std::size_t columns) : before_(columns_of_this_thread) {
  columns_of_this_thread = columns;
}
TextColumns::~TextColumns() {
  columns_of_this_thread = before_;
}

}  // namespace headway
