#include "trace/io/sqlite.hpp"

#include <sqlite3.h>

namespace headway {

void SqliteCloser::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}
void SqliteCloser::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  return Statement(statement);
}

bool next(const Statement& statement) {
  return statement && sqlite3_step(statement.get()) == SQLITE_ROW;
}

std::string_view text_at(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace headway
