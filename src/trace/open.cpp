#include "trace/open.hpp"

#include <map>

#include "trace/io/line_reader.hpp"
#include "trace/readers/readers.hpp"
#include "trace/unknown.hpp"

namespace headway {
namespace {

constexpr std::size_t kBeginning = 64 * 1024;
constexpr std::size_t kSqliteMark = 16;  // bytes that a database is known by
constexpr std::size_t kMostNeeded = 16 * 1024 * 1024;

using Formats = std::span<const TraceFormat>;

// Lines before the first of a known form that the readers of logs will ask for.
class Needed {
 public:
  explicit Needed(Formats formats) : formats_(formats) {}

  void keep(std::string_view line) {
    for (const TraceFormat& format : formats_) {
      if (format.needs == nullptr || !format.needs(line)) continue;
      std::string& lines = lines_[&format];
      if (format.needs_last) lines.clear();
      if (lines.size() < kMostNeeded) lines.append(line).append("\n");
    }
  }
  std::string of(const TraceFormat& format) { return std::move(lines_[&format]); }

 private:
  Formats formats_;
  std::map<const TraceFormat*, std::string> lines_;
};

// Another's source.
struct Borrowed : ByteSource {
  explicit Borrowed(ByteSource& owner) : source(owner) {}
  std::size_t read(char* to, std::size_t most) override { return source.read(to, most); }
  std::string_view damage() const override { return source.damage(); }
  ByteSource& source;
};

void read_as(const TraceFormat& format, ByteSource& source, Recording& recording) {
  recording.format = format.shown;
  recording.size_advice = format.size_advice;
  format.read(source, recording);
}

// A log may begin with anything: the first line of a known form decides.
Result<Recording> read_log(ByteSource& source, const std::string& looks, Recording recording,
                           Formats formats) {
  LineReader lines(source);
  std::string_view line;
  Needed needed(formats);
  while (lines.next(line)) {
    const TraceFormat* format = format_of_line(line, formats);
    if (format == nullptr) {
      needed.keep(line);
      continue;
    }
    // The rest of the source, with this line before it.
    std::string front = needed.of(*format);
    front += line;
    front += '\n';
    front += lines.unread();
    const auto rest = rejoined(std::move(front), std::make_unique<Borrowed>(source));
    read_as(*format, *rest, recording);
    return recording;
  }
  return Problem{recording.source,
                 "is no trace or log of a known form; it looks like " + looks +
                     "; known: " + names_of(formats),
                 Trouble::unknown};
}

// The source is not SQLite.
Result<Recording> read_source(std::unique_ptr<ByteSource> source, const std::string& name,
                              Formats formats) {
  Recording recording;
  recording.source = name;
  std::string beginning = read_up_to(*source, kBeginning);
  if (beginning.empty()) {
    const std::string_view damage = source->damage();
    return Problem{name, damage.empty() ? "is empty" : std::string(damage)};
  }
  // What an archive holds may look like a log of one of its files.
  if (is_tar(beginning))
    return Problem{name, "is " + looks_like(beginning, name), Trouble::unreadable};
  const TraceFormat* format = format_of(beginning, formats);
  if (format != nullptr && format->form == TraceForm::sqlite) {
    return Problem{name, "is an SQLite database packed with gzip; unpack it first",
                   Trouble::unreadable};
  }
  const std::string looks = looks_like(beginning, name);
  source = rejoined(std::move(beginning), std::move(source));
  if (format != nullptr && format->form != TraceForm::log) {
    read_as(*format, *source, recording);
  } else {
    auto read = read_log(*source, looks, std::move(recording), formats);
    if (!read) return read;
    recording = std::move(read).value();
  }
  if (recording.records_read == 0) {
    std::string message = "nothing in this " + recording.format + " could be read";
    for (const Omission& omission : recording.omissions) {
      message += "; " + omission.what + " (" + std::to_string(omission.count) + ")";
    }
    return Problem{name, message};
  }
  return recording;
}

// The format of a database, or null where the bytes begin none.
const TraceFormat* database_format(std::string_view bytes, Formats formats) {
  const TraceFormat* format = format_of(bytes.substr(0, kSqliteMark), formats);
  return format != nullptr && format->form == TraceForm::sqlite ? format : nullptr;
}

Result<Recording> named(const TraceFormat& format, Result<Recording> read) {
  if (read) {
    read->format = format.shown;
    read->size_advice = format.size_advice;
  }
  return read;
}

}  // namespace

Result<Recording> read_trace(const std::string& path, const BytesRead& told, Formats formats) {
  auto file = open_file(path);
  if (!file) return file.problems();
  std::unique_ptr<ByteSource> source = std::move(file).value();
  if (told) source = watched(std::move(source), told);
  std::string beginning = read_up_to(*source, kSqliteMark);
  if (const TraceFormat* format = database_format(beginning, formats)) {
    return named(*format, read_nsight_file(path, told));
  }
  source = rejoined(std::move(beginning), std::move(source));
  return read_source(unpacked(std::move(source)), path, formats);
}

Result<Recording> read_trace_bytes(std::string_view bytes, const std::string& name,
                                   Formats formats) {
  if (const TraceFormat* format = database_format(bytes, formats)) {
    return named(*format, read_nsight_bytes(bytes));
  }
  return read_source(unpacked(source_of(bytes)), name, formats);
}

}  // namespace headway
