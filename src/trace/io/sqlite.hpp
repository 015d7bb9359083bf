// Databases and statements of SQLite that close themselves.
#pragma once

#include <memory>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace headway {

struct SqliteCloser {
  void operator()(sqlite3* database) const;
  void operator()(sqlite3_stmt* statement) const;
};
using Database = std::unique_ptr<sqlite3, SqliteCloser>;
using Statement = std::unique_ptr<sqlite3_stmt, SqliteCloser>;

/// Null where the database refuses it: no such table, say.
Statement prepare(sqlite3* database, const char* sql);

/// Whether the statement has another row, on which it then stands; a null one has none.
bool next(const Statement& statement);

/// The text of a column of the row; empty for NULL.
std::string_view text_at(sqlite3_stmt* statement, int column);

}  // namespace headway
