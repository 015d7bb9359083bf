// Gradients that travel compressed: what they come to on the wire, which calls carry them, and the
// kernels that make and unmake them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "layout/run.hpp"
#include "step/step.hpp"

namespace headway {

/// Ways to compress, and how many bits an element then has; 0: it hangs on the gradient.
enum class Compressor : std::uint8_t {
  none,
  fp16,
  bits_8,
  qsgd,
  terngrad,
  bits_1,
  top_k,
  powersgd
};

struct CompressorRow {
  Compressor compressor;
  std::string_view name, what;
  double bits;              // of an element on the wire; 0: see below
  bool feeds_back = false;  // what is lost is added to the next step's gradient
};
constexpr std::array<CompressorRow, 8> kCompressors = {{
    {Compressor::none, "none", "as the run sends them", 0},
    {Compressor::fp16, "fp16", "16 bit, added up on the way", 16},
    {Compressor::bits_8, "8-bit", "8 bit with scales", 8},
    {Compressor::qsgd, "qsgd", "4 bit, rounded at random (QSGD)", 4},
    {Compressor::terngrad, "terngrad", "2 bit: -1, 0, 1 (TernGrad)", 2},
    {Compressor::bits_1, "1-bit", "signs (1-bit SGD, signSGD)", 1, true},
    {Compressor::top_k, "top-k", "the largest, with their places", 0, true},
    {Compressor::powersgd, "powersgd", "factors of low rank (PowerSGD)", 0, true},
}};
constexpr const CompressorRow& row_of(Compressor compressor) {
  return kCompressors[static_cast<std::size_t>(compressor)];
}

struct Compression {
  Compressor by = Compressor::none;
  double share = 0.01;    // top-k: of the elements
  std::int64_t rank = 4;  // powersgd
};

/// Whether the call adds up or exchanges gradients of ranks that hold the same weights.
bool carries_gradients(const Call& call);
bool sends_gradients(const StageClass& stage);

/// [SIM-52] Changes the calls of gradients once a step, and puts the kernels before and behind
/// them. Why it cannot; empty: it did.
std::string compress_gradients(Step& step, const Run& run, const Compression& compression);

}  // namespace headway
