// The file that headway's recorders write, one a rank: what the recorders of programs and the
// reader of traces share. It includes nothing but integers, for a recorder lives in programs of
// others.
//
//   header   one line of JSON: {"headway_record":1, "rank", "world", "host", "library", "version",
//            "functions": [names], "counts": "..."}
//   state    one record, the only one that is ever written again: what was lost, whether it is
//   whole records  48 bytes each, appended in whole ones: calls in the order in which they were
//   done, and
//            texts, of which a record says how many bytes of JSON stand in the slots behind it
//
// All numbers are little-endian. Times are of the rank's monotonic clock, in nanoseconds.
#pragma once

#include <cstdint>

namespace headway::record_file {

inline constexpr int kVersion = 1;
inline constexpr char kMark[] = "{\"headway_record\":";  // what a file begins with

/// What a record is of. Those below 64 are the operations of recordings, by the same numbers.
enum Op : std::uint8_t {
  kAllReduce = 0,
  kAllGather = 1,
  kReduceScatter = 2,
  kAllToAll = 3,
  kBroadcast = 4,
  kSendReceive = 5,
  kSend = 6,
  kReceive = 7,
  kReduce = 8,
  kGather = 9,
  kScatter = 10,
  kBarrier = 11,
  kOther = 12,
  kWait = 64,   // waited for others to be done: MPI_Wait, MPI_Probe, MPI_Win_fence
  kStep = 65,   // a step begins; bytes: its number
  kState = 66,  // bytes: records that were lost; flags: kWhole; start_ns: how many came, where that
                // is known; duration_ns: of them in files before this one, or lost as bytes says
  kText = 67,   // bytes: of the JSON behind it
  kFile = 68,   // a file was read or written, no rank had to do with another: MPI_File_read
};

/// What the duration is of.
enum Time : std::uint8_t {
  kNone = 0,
  kDevice = 1,   // on the device from start to end
  kHost = 2,     // on the host, until the call was done
  kEnqueue = 3,  // on the host, to begin it
  kStream = 4,   // on the host, as on a stream of a device (docs/models/replay.md)
};

enum Flag : std::uint32_t {
  kPart = 1,        // bytes are this rank's part; of the others it does not know
  kUntil = 2,       // it was done at the latest then: the program looked no sooner
  kSequence = 4,    // `sequence` counts the collectives of the group
  kPeer = 8,        // `peer` is there
  kTag = 16,        // `stream` is the tag of a message
  kWhole = 32,      // of kState: the recorder ended the file
  kBeside = 64,     // the program went on meanwhile: it was done then, wherever the program was
  kTogether = 128,  // one of several with this start and time, which ran as one
  kCaptured = 256,  // put into a graph of the device's: how often it runs is not known
  kEachPart = 512,  // bytes are those of one rank's part, and all parts are as large
};
inline constexpr std::uint32_t kNoBytes = kPart | kEachPart;  // both: bytes are not known
/// Of a process that is several ranks, a device each: which. 0: that of the header; of others a
/// text
/// {"local": number, "rank": its rank}.
inline constexpr int kLocalShift = 10;
inline constexpr std::uint32_t kMostLocals = 64;
inline constexpr int kFunctionShift = 16;  // of ten bits: number in the header's functions
inline constexpr std::uint32_t kMostFunctions = 1 << 10;
/// [RECORD-8] Above them, of a call that a device does later than it is asked for: how many steps
/// had begun when it was, modulo kAskedTurn and one more. 0: not said.
inline constexpr int kAskedShift = 26;
inline constexpr std::int64_t kAskedTurn = 63;
constexpr std::uint32_t asked_after(std::int64_t steps) {
  return static_cast<std::uint32_t>(1 + steps % kAskedTurn) << kAskedShift;
}

struct Record {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;  // 0: not known
  /// The whole logical tensor, as RecordedCall::bytes; kPart: one rank's part.
  std::uint64_t bytes = 0;
  std::uint8_t asked = kOther;
  std::uint8_t done = kOther;
  std::uint8_t type = 0;  // 1 + ElementType; 0: not known
  std::uint8_t time = kNone;
  std::uint32_t group = 0;  // defined by a text {"group": number, "ranks": [...]}; 0: none
  std::uint32_t sequence = 0;
  std::int32_t peer = -1;    // rank in the group of the other end, or the root
  std::uint32_t stream = 0;  // of a device
  std::uint32_t flags = 0;
};
inline constexpr std::uint64_t kRecordBytes = 48;
static_assert(sizeof(Record) == kRecordBytes);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are written as they lie there");

/// Slots that a text of so many bytes takes.
constexpr std::uint64_t slots(std::uint64_t bytes) {
  return bytes / kRecordBytes + (bytes % kRecordBytes != 0 ? 1 : 0);
}

}  // namespace headway::record_file
