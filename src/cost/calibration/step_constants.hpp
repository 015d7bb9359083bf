// Constants that only whole steps decide, no measurement of a single kernel or call
// (data/calibration/step*.toml, docs/models/forecast.md).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway {

/// Of every run.
struct SharedConstants {
  double interference = 0;  // slowing of kernels while communication runs beside them, a share of
                            // the communication's time
  double straggling = 0;    // standard deviation of a step's time from rank to rank, a share of
                            // it: the slowest of all sets the pace
  double maturing = 1;      // years in which software makes up for all but 1/e of `immaturity`
};

/// Of one framework family.
struct FrameworkConstants {
  Seconds host_launch;       // the host needs this for each op it issues
  Seconds host_call;         // and this for each call: one launch, where an op is several
  Seconds grouped_overhead;  // of each product of a group: padding, casts and a launch apart
  Seconds step_overhead;     // once a step: data, logging, host synchronisation
  Bytes context;             // driver context, libraries' workspaces, communicators' own buffers
  double fragmentation = 0;  // of the memory that the allocator handles
  BytesPerSecond reclaim;    // at which an allocator at its limit gives its cache back and takes it
                             // anew
  double interleaving = 0;   // the same, where several micro-batches' activations lie between each
                             // other: of all beyond the first
  Seconds host_piece;        // of the host, for each piece of a tensor that it cuts and copies
  Seconds near_check;        // of the hosts, for each rank of a checked collective's group that
                             // is on the same node
  Seconds far_check;         // and for each that is not
  Seconds transfer_wait;     // of the host, to send and receive where transfers wait for it
};

/// Of one accelerator architecture.
struct ArchitectureConstants {
  double sustained = 1;            // of the rate of a short benchmark that hours of training keep
  double sustained_8_bit = 1;      // the same of products in 8 bits
  double sustained_4_bit = 1;      // the same of products in 4 bits
  double sustained_attention = 1;  // the same of attention
  double sustained_passes = 1;     // of the memory bandwidth that passes reach alone
  double sustained_grouped = 1;    // the same of grouped products, besides
  double eager = 1;                // of a fused pass' bandwidth that kernels of one operation
                                   // each reach
  double power_exponent = 0;       // rates grow with the board's power to this exponent
  double immaturity = 0;           // share of the rates that software lacked when the architecture
                                   // appeared
  double extra_passes = 0;  // bytes that unfused passes of 8- and 4-bit recipes moved, over those
                            // of fused ones, a year after the architecture appeared
};

/// Of one network class.
struct NetworkConstants {
  /// Of the speed of a lone benchmark that calls of a step reach, in bandwidth and in steps of a
  /// ring or tree.
  double in_step = 1;
};

/// What is drawn while training [FORECAST-6]; not fitted on steps.
struct PowerConstants {
  double waiting = 0;  // of what an accelerator may draw above idle: kernels are on the chip and
                       // clocks are up, but no product runs
  double host = 1;     // of the host's largest power
};

struct StepConstants {
  SharedConstants shared;
  PowerConstants power;
  // By name; "default" holds for all others.
  std::map<std::string, FrameworkConstants> frameworks;
  std::map<std::string, ArchitectureConstants> architectures;
  std::map<std::string, NetworkConstants> networks;
  /// Constants that no fit may move, by their section and entry: "framework.fsdp".
  std::map<std::string, std::set<std::string>> held;
  std::map<std::string, double> appeared;          // year of an architecture's first systems
  std::map<std::string, Watts> benchmarked_power;  // TDP of an architecture's benchmarked board;
                                                   // its part of an accelerator with other units

  const FrameworkConstants& framework(const std::string& name) const;
  const ArchitectureConstants& architecture(const std::string& name) const;
  const NetworkConstants& network(const std::string& name) const;
};

/// Entries of `fitted` overlay those of `estimated`, field by field.
Result<StepConstants> step_constants_from(const Document& estimated, const Document* fitted);
/// The constants by the embedded data/calibration: the fit upon the estimates.
const Result<StepConstants>& step_constants();
/// The estimates alone, and the document they stand in.
Result<StepConstants> estimated_step_constants();
Result<Document> embedded_step_estimates();

/// What a measured run has to state to decide a constant.
enum class Decides : std::uint8_t { step_time, memory };

/// What a constant may be, and why.
struct Bounds {
  double least, most;  // SI
  std::string_view reason;
  Decides by = Decides::step_time;
  /// How far from the estimate two of three constants lie that no run has shown: a factor. 0: a
  /// factor of two where the bounds span a decade, else a fifth of their range.
  double within = 0;
};

/// What is counted in launches or messages of the host differs by how fast one core of it is: those
/// of servers of one time by a fifth.
constexpr double kHosts = 1.2;

// Every constant that a fit may move, by name: visit(name, constant, bounds).
template <class Visitor>
void for_each_constant(SharedConstants& c, Visitor&& visit) {
  visit("interference", c.interference,
        Bounds{0, 0.5, "communication kernels hold at most half of the compute units"});
  visit("straggling", c.straggling,
        Bounds{0, 0.03, "accelerators of one type differ by 8 % from end to end, 22 % at most"});
  visit("maturing", c.maturing, Bounds{0.2, 3, "libraries mature within months to years"});
}
template <class Visitor>
void for_each_constant(FrameworkConstants& c, Visitor&& visit) {
  visit("host_launch", c.host_launch,
        Bounds{0.2e-6, 300e-6, "an op is one to some ten launches of 2 to 10 us each",
               Decides::step_time, kHosts});
  visit("host_call", c.host_call,
        Bounds{0.2e-6, 150e-6, "one launch with its checks, of 2 to 10 us, or some",
               Decides::step_time, kHosts});
  visit("grouped_overhead", c.grouped_overhead,
        Bounds{0.1e-6, 60e-6, "some kernels of 2 to 10 us for each expert"});
  visit("step_overhead", c.step_overhead,
        Bounds{0.01e-3, 0.3, "the launch of a graph at least, a slow data loader at most"});
  visit("interleaving", c.interleaving,
        Bounds{0, 0.5, "unusable gaps of a caching allocator", Decides::memory});
  visit("host_piece", c.host_piece,
        Bounds{0.2e-6, 50e-6, "a view and a copy: two launches", Decides::step_time, kHosts});
  visit("near_check", c.near_check,
        Bounds{10e-6, 2e-3, "messages over TCP one after another", Decides::step_time, kHosts});
  visit("far_check", c.far_check,
        Bounds{10e-6, 2e-3, "messages over TCP one after another", Decides::step_time, kHosts});
  visit("transfer_wait", c.transfer_wait, Bounds{0, 2, "hosts that poll wait seconds at most"});
  visit("context", c.context,
        Bounds{0.2e9, 8e9, "driver and libraries take 0.2 to 8 GB", Decides::memory});
  visit("fragmentation", c.fragmentation,
        Bounds{0, 0.3, "unusable gaps of a caching allocator", Decides::memory});
  visit("reclaim", c.reclaim,
        Bounds{5e9, 1e15,
               "a millisecond a GB to free and as much to map, or more often; at most no cost",
               Decides::memory});
}
template <class Visitor>
void for_each_constant(ArchitectureConstants& c, Visitor&& visit) {
  constexpr Bounds kSustained{
      0.5, 1.7, "a benchmark's board may be throttled: B200 ran in two states 1.4 apart"};
  visit("sustained", c.sustained, kSustained);
  visit("sustained_8_bit", c.sustained_8_bit, kSustained);
  visit("sustained_4_bit", c.sustained_4_bit, kSustained);
  visit("sustained_attention", c.sustained_attention, kSustained);
  visit("sustained_passes", c.sustained_passes, kSustained);
  visit("sustained_grouped", c.sustained_grouped, kSustained);
  visit("power_exponent", c.power_exponent,
        Bounds{0, 1, "clocks grow with the cube root of the power, at the least voltage with it"});
  visit("eager", c.eager,
        Bounds{0.3, 1,
               "a pass of one operation does not beat a fused one; unlike strided or indexed"
               " access, rows of it are read whole"});
  visit("immaturity", c.immaturity, Bounds{0, 0.5, "first software reached half at least"});
  visit("extra_passes", c.extra_passes, Bounds{0, 6, "casts, scales and transposes, each a pass"});
}
template <class Visitor>
void for_each_constant(NetworkConstants& c, Visitor&& visit) {
  visit("in_step", c.in_step, Bounds{0.2, 1, "calls of a step do not beat a lone benchmark"});
}

}  // namespace headway
