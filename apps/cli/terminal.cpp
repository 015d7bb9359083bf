#include "terminal.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace headway {

std::size_t terminal_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool keep_standard_input() {
  struct stat what {};
  if (fstat(STDIN_FILENO, &what) == 0 && S_ISREG(what.st_mode)) return true;
  std::FILE* kept = std::tmpfile();
  if (kept == nullptr) return false;
  std::array<char, 64 * 1024> piece;
  std::size_t got = 0;
  bool written = true;
  while (written && (got = std::fread(piece.data(), 1, piece.size(), stdin)) > 0) {
    written = std::fwrite(piece.data(), 1, got, kept) == got;
  }
  written = written && std::ferror(stdin) == 0 && std::fflush(kept) == 0;
  // The copy takes the place of what was read; it is gone with the program.
  written = written && dup2(fileno(kept), STDIN_FILENO) >= 0;
  std::fclose(kept);
  return written;
}

}  // namespace headway
