// What a machine of the limits study costs and draws: servers, and the networks between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "limits/machine/machine.hpp"

namespace headway {

/// The ends of what sources say.
struct LowHigh {
  double low = 0, high = 0;
  double middle() const { return (low + high) / 2; }
  friend LowHigh operator+(LowHigh a, LowHigh b) { return {a.low + b.low, a.high + b.high}; }
  friend LowHigh operator*(double times, LowHigh of) { return {times * of.low, times * of.high}; }
  friend bool operator==(const LowHigh&, const LowHigh&) = default;
};

/// To buy, US dollars; to feed, watts.
struct MachineCost {
  LowHigh dollars, watts;
  friend MachineCost operator+(const MachineCost& a, const MachineCost& b) {
    return {a.dollars + b.dollars, a.watts + b.watts};
  }
  friend MachineCost operator*(double times, const MachineCost& of) {
    return {times * of.dollars, times * of.watts};
  }
};

/// An accelerator with its share of a server, whose links join `domain` of them.
struct ServerParts {
  std::string machine;
  std::int64_t domain = 1;
  MachineCost each;
  std::string source;
};

/// Parts of a network; costs of 1 B/s one way.
struct LinkParts {
  std::string name, title;
  std::int64_t radix = 0;   // ports of a switch
  std::int64_t copper = 0;  // ends that copper joins; 0: none
  MachineCost card, port, copper_cable, optical_cable;
  std::string source;

  const MachineCost& cable(std::int64_t ends) const {
    return ends <= copper ? copper_cable : optical_cable;
  }
};

/// What machines are bought with.
struct MachineShop {
  std::vector<ServerParts> servers;
  LinkParts inner, outer;  // in a domain; between domains
  LowHigh pue;             // watts at the meter over watts of machines
  std::string source;      // of the building

  const ServerParts* server_of(const std::string& machine) const;
};

/// data/limits/parts.toml, with what the document states in its place.
Result<MachineShop> machine_shop(const Document* own);

/// Tiers of switches of a network without blocking that joins so many ends. [LIMIT-40]
std::int64_t tiers_of(std::int64_t ends, std::int64_t radix);

/// A network without blocking between `ends`, each of which sends `bandwidth`; of one end.
/// [LIMIT-40]
MachineCost network_cost(const LinkParts& link, std::int64_t ends, BytesPerSecond bandwidth);

/// [LIMIT-41]
struct Bill {
  std::int64_t accelerators = 0;  // bought: those in use, and what of their domains is left over
  std::int64_t inner_tiers = 0, outer_tiers = 0;  // 0: no network
  MachineCost servers, inner, outer;              // of all of them; watts at the meter
  MachineCost total() const { return servers + inner + outer; }
};

/// Why this machine has no bill: empty where it has one.
std::string why_no_bill(const MachineShop& shop, const std::string& server,
                        const limits::Machine& machine);

/// Of a machine of a domain and a fabric, of which a run takes `gpus`. `server`: whose price its
/// accelerators have.
Bill bill_of(const MachineShop& shop, const std::string& server, const limits::Machine& machine,
             std::int64_t gpus);

}  // namespace headway
