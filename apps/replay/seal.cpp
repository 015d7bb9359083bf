#include "seal.hpp"

#include <fstream>
#include <limits>

#include "trace/recording/record_file.hpp"

namespace headway::replay {

bool seal_calls(const std::string& path, bool one_by_one) {
  using record_file::Record;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  Record record;
  for (std::streamoff at = file.tellg(); file;) {
    file.seekg(at);
    if (!file.read(reinterpret_cast<char*>(&record), sizeof record)) break;
    if (record.asked < record_file::kWait && (record.flags & record_file::kUntil) != 0) {
      record.flags &= ~static_cast<std::uint32_t>(record_file::kUntil);
      if (!one_by_one) record.time = record_file::kStream;
      file.seekp(at);
      file.write(reinterpret_cast<const char*>(&record), sizeof record);
    }
    at += static_cast<std::streamoff>(sizeof record);
    if (record.asked == record_file::kText) {
      at += static_cast<std::streamoff>(record_file::slots(record.bytes) * sizeof record);
    }
  }
  return file.eof();
}

}  // namespace headway::replay
