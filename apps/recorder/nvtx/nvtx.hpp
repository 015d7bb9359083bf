// What NVTX and a tool agree on (nvtx3, nvtxTypes.h and nvToolsExt.h, versions 2 and 3), as far as
// the marks of steps need it. Numbers and structures are those of the interface; nothing of NVTX is
// needed to build this.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace headway::recorder::nvtx {

enum ExportTable : uint32_t { kCallbacks = 1 };
enum Module : int { kCore = 1, kCore2 = 5 };
enum Core : unsigned {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
};
enum Core2 : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangePushEx = 4,
  kDomainRegisterStringA = 10,
};

inline constexpr int kNoTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

using Table = void (***)();  // of pointers to where the functions stand
using GetExportTable = const void* (*)(uint32_t);
struct Callbacks {
  size_t size;
  int (*table_of)(int module, Table* table, unsigned* size);
};

enum MessageType : int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
union Message {
  const char* ascii;
  const wchar_t* unicode;
};
struct Event {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  Message message;
};
static_assert(sizeof(Event) == 48 && offsetof(Event, payload) == 24 &&
              offsetof(Event, message_type) == 32 && offsetof(Event, message) == 40);

}  // namespace headway::recorder::nvtx
