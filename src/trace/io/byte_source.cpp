#include "trace/io/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "platform/paths.hpp"

namespace headway {
namespace {

constexpr std::size_t kChunk = 256 * 1024;

class FileSource : public ByteSource {
 public:
  explicit FileSource(std::FILE* file) : file_(file, &std::fclose) {
    std::setvbuf(file, nullptr, _IONBF, 0);  // callers read in large pieces
  }
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t got = std::fread(to, 1, most, file_.get());
    if (got < most && std::ferror(file_.get()) != 0) damage_ = "the file cannot be read further";
    return got;
  }
  std::string_view damage() const override { return damage_; }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string_view damage_;
};

class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t got = std::min(most, rest_.size());
    if (got > 0) std::memcpy(to, rest_.data(), got);
    rest_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view rest_;
};

class RejoinedSource : public ByteSource {
 public:
  RejoinedSource(std::string front, std::unique_ptr<ByteSource> rest)
      : front_(std::move(front)), rest_(std::move(rest)) {}
  std::size_t read(char* to, std::size_t most) override {
    if (at_ == front_.size()) return rest_->read(to, most);
    const std::size_t got = std::min(most, front_.size() - at_);
    std::memcpy(to, front_.data() + at_, got);
    at_ += got;
    return got;
  }
  std::string_view damage() const override { return rest_->damage(); }

 private:
  std::string front_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class WatchedSource : public ByteSource {
 public:
  WatchedSource(std::unique_ptr<ByteSource> source, BytesRead told)
      : source_(std::move(source)), told_(std::move(told)) {}
  std::size_t read(char* to, std::size_t most) override {
    if (stopped_) return 0;
    const std::size_t got = source_->read(to, std::min(most, kChunk));
    stopped_ = !told_(got);
    return stopped_ ? 0 : got;
  }
  std::string_view damage() const override {
    return stopped_ ? std::string_view("reading was stopped") : source_->damage();
  }

 private:
  std::unique_ptr<ByteSource> source_;
  BytesRead told_;
  bool stopped_ = false;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), chunk_(kChunk) {
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;  // 16: gzip, not zlib
    if (!ready_) damage_ = "no memory to unpack";
  }
  ~GzipSource() override {
    if (ready_) inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* to, std::size_t most) override {
    if (!ready_ || ended_ || most == 0) return 0;
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0 && !refill()) {
        if (in_member_) damage_ = "the compressed data end too early";
        ended_ = true;
        break;
      }
      in_member_ = true;
      const int state = inflate(&stream_, Z_NO_FLUSH);
      if (state == Z_STREAM_END) {
        in_member_ = false;
        ended_ = !starts_another_member();
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        damage_ = "the compressed data are damaged";
        ended_ = true;
      }
    }
    return wanted - stream_.avail_out;
  }
  std::string_view damage() const override { return damage_.empty() ? packed_->damage() : damage_; }

 private:
  bool refill() {
    const std::size_t got = packed_->read(chunk_.data(), chunk_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }
  bool starts_another_member() {
    if (stream_.avail_in == 0 && !refill()) return false;
    return *stream_.next_in == 0x1f && inflateReset(&stream_) == Z_OK;
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> chunk_;
  z_stream stream_{};
  bool ready_ = false;
  bool in_member_ = false;
  bool ended_ = false;
  std::string_view damage_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  if (is_folder(path)) {
    return Problem{path, "is a folder; name the files in it", Trouble::unreadable};
  }
  // "-": the standard input, which the program has made a file by then.
  std::FILE* file = std::fopen(path == "-" ? "/dev/stdin" : path.c_str(), "rb");
  if (file == nullptr) {
    return Problem{path, "cannot be opened: " + std::generic_category().message(errno),
                   Trouble::unreadable};
  }
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(file));
}

std::unique_ptr<ByteSource> source_of(std::string_view text) {
  return std::make_unique<TextSource>(text);
}

std::unique_ptr<ByteSource> rejoined(std::string front, std::unique_ptr<ByteSource> rest) {
  return std::make_unique<RejoinedSource>(std::move(front), std::move(rest));
}

std::unique_ptr<ByteSource> watched(std::unique_ptr<ByteSource> source, BytesRead told) {
  return std::make_unique<WatchedSource>(std::move(source), std::move(told));
}

std::string read_up_to(ByteSource& source, std::size_t most) {
  std::string out;
  while (out.size() < most) {
    const std::size_t had = out.size();
    out.resize(std::min(most, had + kChunk));
    const std::size_t got = source.read(out.data() + had, out.size() - had);
    out.resize(had + got);
    if (got == 0) break;
  }
  return out;
}

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source) {
  std::string front = read_up_to(*source, 2);
  const bool packed = front == "\x1f\x8b";
  source = rejoined(std::move(front), std::move(source));
  if (packed) return std::make_unique<GzipSource>(std::move(source));
  return source;
}

}  // namespace headway
