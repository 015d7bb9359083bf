#include "base/columns.hpp"

namespace headway {
namespace {

thread_local std::size_t columns_of_this_thread = kUsualColumns;

}  // namespace

std::size_t text_columns() {
  return columns_of_this_thread;
}
TextColumns::TextColumns(std::size_t columns) : before_(columns_of_this_thread) {
  columns_of_this_thread = columns;
}
TextColumns::~TextColumns() {
  columns_of_this_thread = before_;
}

}  // namespace headway
