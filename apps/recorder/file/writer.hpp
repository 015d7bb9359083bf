// Records of a program on their way to its file: a bounded queue, a thread that writes it, and the
// file, whole at any moment. Nothing here is of MPI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clock.hpp"
#include "settings.hpp"
#include "trace/recording/record_file.hpp"

namespace headway::recorder {

/// Who records.
struct Identity {
  int rank = 0, world = 1;
  const char* host = "";
  const char* library = "";      // what is recorded: "Open MPI v4.1.4 ..."
  const char* counts = "";       // what its counts mean
  const char* functions = "[]";  // JSON: their names, by the number in the records
};

/// Begins the file `path` of a rank; false where it cannot, with `why`. `path` has no ending yet.
bool begin_file(const Settings& settings, const char* path, const Identity& identity,
                const char*& why);

/// Keeps a record whose times are ticks (clock.hpp), if the settings ask for it. Never waits.
void put(const record_file::Record& record);

/// A call that cannot be kept counts with those that were lost, if the settings ask for it.
void lose(std::uint8_t op);

/// Whether a record would be kept: nothing need be found out of one that is not.
bool is_recorded(std::uint8_t op);
bool is_time_to_record();
/// The same of a record with its bytes, and that it is time to.
bool is_kept(const record_file::Record& record);

/// JSON that says what the records mean; stands in every file of the rank.
void put_text(const char* json, std::size_t length);

/// A step begins, the next one after those that were marked; they count from 0.
void begin_step();

/// Writes what came so far.
void write_now();
/// Writes all and ends the file.
void end_file();
/// In the child of a fork, which has neither the thread nor the right to the file.
void abandon_file();

/// How many steps the program marked.
std::int64_t marked_steps();

}  // namespace headway::recorder
