// Packs a file for the binary to carry: pack FROM TO writes gzip at its strongest, the same bytes
// for the same file (no name, no time in it).
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream from(argv[1], std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
  z_stream stream{};
  constexpr int kGzip = 15 + 16, kMemory = 8;  // more memory packs these tables worse
  if (!from || deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                            Z_DEFAULT_STRATEGY) != Z_OK) {
    std::fprintf(stderr, "pack: cannot read %s\n", argv[1]);
    return 1;
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  std::ofstream to(argv[2], std::ios::binary);
  to << packed;
  to.close();
  if (!whole || !to) {
    std::fprintf(stderr, "pack: cannot write %s\n", argv[2]);
    return 1;
  }
}
