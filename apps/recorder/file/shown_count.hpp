// How many records came, in a word of the file itself: the kernel keeps it when the process is
// killed, so that a reader knows how many were on their way.
#pragma once

#include <sys/mman.h>
#include <sys/statfs.h>

#include <atomic>
#include <cstdint>

namespace headway::recorder {

class ShownCount {
 public:
  /// Maps the word at `at` of the file, a multiple of 64; null where that is not possible, or might
  /// end the program: where a page that is there may need room on the disk again (btrfs, ZFS), or
  /// its write waits for a server.
  std::atomic<std::uint64_t>* map(int file, std::uint64_t at) {
    struct statfs system {};
    if (::fstatfs(file, &system) != 0 || !keeps_pages(system.f_type)) return nullptr;
    // At one address for all files of the process: who writes into the last one meanwhile does no
    // harm.
    const int there = page_ == nullptr ? 0 : MAP_FIXED;
    const std::uint64_t begin = at & ~(kPage - 1);
    void* mapped = ::mmap(page_, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | there, file,
                          static_cast<off_t>(begin));
    if (mapped == MAP_FAILED) return nullptr;
    page_ = mapped;
    return reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<char*>(page_) + (at - begin));
  }

  /// Who still writes does so into memory of its own.
  void leave() {
    if (page_ == nullptr) return;
    void* own = ::mmap(page_, kPage, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    (void)own;
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  static bool keeps_pages(std::int64_t type) {
    constexpr std::int64_t kExt = 0xef53, kXfs = 0x58465342, kTmpfs = 0x01021994;
    return type == kExt || type == kXfs || type == kTmpfs;
  }

  void* page_ = nullptr;
};

}  // namespace headway::recorder
