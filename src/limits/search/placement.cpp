#include "limits/search/placement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/divisors.hpp"

namespace headway::limits {

Placements::Placements(const Setting& setting, const Shape& shape, const Network& network,
                       std::int64_t gpus, Seconds cap)
    : setting_(setting),
      shape_(shape),
      gpus_(gpus),
      levels_(setting.machine.levels.size()),
      domains_(domains_in_use(setting.machine, gpus)),
      best_time_(cap),
      best_communication_(std::numeric_limits<double>::infinity()) {
  collapsed_.reserve(levels_);
  std::int64_t inside = 1;
  for (std::size_t level = 0; level < levels_; ++level) {
    collapsed_.push_back(network.collapsed(static_cast<int>(level)));
    inside_[level] = inside;
    inner_parts_[level] = divisors(inside);
    inside *= domains_[level];
    if (domains_[level] > 1) outermost_ = level;
  }
}

namespace {

std::int64_t least_prime_of(std::int64_t number) {
  for (std::int64_t prime = 2; prime * prime <= number; ++prime) {
    if (number % prime == 0) return prime;
  }
  return number;
}

}  // namespace

// [LIMIT-37] A degree that has a part of more than one on the outermost level in use has at least
// the least prime q there that it shares with the level's k domains. What it takes with q there and
// nothing else is a bound of what it takes, beside the bound of [LIMIT-12]: by it a degree may
// cross the level or not. The parts of those that may multiply to k, so each of them has at least
// k / gcd(k, product of the others) there, which bounds the step again.
bool Placements::find_crossing(Path& path) const {
  if (outermost_ == 0) return true;
  const Candidate& candidate = path.candidate;
  const Network& network = collapsed_.front();
  const Degrees& of = candidate.degrees;
  const std::array<std::int64_t, kKinds> degrees = {of.data, of.pipeline, of.tensor_model,
                                                    of.tensor_ff, of.expert};
  // The times with at least that part of one degree on the level.
  const auto raise = [&](std::size_t kind, std::int64_t part, NetworkTimes& known) {
    const Split none;
    Split there;
    there.at[outermost_] = part;
    const auto larger = [](const std::array<Seconds, 2>& times, Seconds& bandwidth,
                           Seconds& latency) {
      bandwidth = std::max(bandwidth, times[0]);
      latency = std::max(latency, times[1]);
    };
    switch (kind) {
      case kData:
        return larger({network.data_bandwidth(there), network.data_latency(there)}, known.data,
                      known.data_latency);
      case kPipeline:
        return larger(network.pipeline(there, none, candidate.interleave), known.pipeline,
                      known.pipeline_latency);
      case kTensorModel:
        return larger(network.tensor(there, none), known.tensor, known.tensor_latency);
      case kTensorFf:
        return larger(network.tensor(none, there), known.tensor, known.tensor_latency);
      default:
        return larger(network.pipeline(none, there, 1), known.pipeline, known.pipeline_latency);
    }
  };
  const std::int64_t domains = domains_[outermost_];
  std::int64_t crossing = 1;  // product of the degrees that may cross
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const std::int64_t least = least_prime_of(std::gcd(degrees[kind], domains));
    path.may_cross[kind] = false;
    if (least == 1) continue;
    NetworkTimes known = candidate.network;
    raise(kind, least, known);
    const bool replicas_alone =
        setting_.machine.replicas_cross && outermost_ + 1 == levels_ && kind != kData;
    path.may_cross[kind] = !replicas_alone && could_improve(path, known);
    if (path.may_cross[kind]) crossing *= degrees[kind];
  }
  if (crossing % domains != 0) return false;
  NetworkTimes known = candidate.network;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (!path.may_cross[kind]) continue;
    const std::int64_t part = domains / std::gcd(domains, crossing / degrees[kind]);
    if (part > 1) raise(kind, part, known);
  }
  return could_improve(path, known);
}

void Placements::consider(const Candidate& candidate) {
  Path path{candidate, {}, {}};
  if (!find_crossing(path)) return;
  path.layout.micro_batches = candidate.micro_batches;
  path.layout.interleave = candidate.interleave;
  path.layout.zero_bubble = candidate.zero_bubble;
  place(path, levels_ - 1, candidate.degrees, candidate.network);
}

bool Placements::could_improve(const Path& path, const NetworkTimes& network) const {
  const Candidate& of = path.candidate;
  return could_improve(step_time(setting_, of.matmul, network, of.bubble, of.zero_bubble),
                       communication_of(network));
}

// Whether what is decided at `level` leaves enough memory: [LIMIT-27] asks which replicas meet
// rarely, and that is known once the innermost level on which they do is placed.
bool Placements::has_memory(const Path& path, std::size_t level) const {
  const Relaxation& relaxation = setting_.relaxation;
  if (!(relaxation.sync_every > 1) || level != relaxation.loose_level) return true;
  return fits(setting_, shape_, gpus_, path.candidate.degrees.data,
              loose_replicas(setting_, path.layout.data));
}

namespace {

// Calls body(part) for each part that a degree can have on a level with room for `here`, so that
// what is left of it, one of `inner_parts`, has room inside.
template <class Body>
void for_each_part(const std::vector<std::int64_t>& inner_parts, std::int64_t degree,
                   std::int64_t here, std::int64_t inside, const Body& body) {
  for (const std::int64_t inner : inner_parts) {
    if (inner > degree || inner > inside) break;
    if (inside % inner != 0 || degree % inner != 0) continue;
    if (here % (degree / inner) == 0) body(degree / inner);
  }
}

}  // namespace

// From the outermost level, the slowest one, inwards. Levels outside `level` are decided, `left`
// lies on it and inside. Chooses what of the tensor degrees lies on the level, then of the others.
// `network` is a bound in which each kind's times are replaced as soon as its place on the level is
// known; what is left inside lies on one level meanwhile.
void Placements::place(Path& path, std::size_t level, const Degrees& left,
                       const NetworkTimes& network) {
  Layout& layout = path.layout;
  const Room all{domains_[level], inside_[level]};
  const std::size_t in = level > 0 ? level - 1 : 0;
  Degrees rest = left;
  for_each_part(
      inner_parts_[level], left.tensor_model, all.here, all.inside, [&](std::int64_t model) {
        rest.tensor_model = left.tensor_model / model;
        if (model > 1 && !may_lie(path, level, kTensorModel)) return;
        const Room room{all.here / model, all.inside / rest.tensor_model};
        for_each_part(
            inner_parts_[level], left.tensor_ff, room.here, room.inside, [&](std::int64_t ff) {
              if (ff > 1 && !may_lie(path, level, kTensorFf)) return;
              rest.tensor_ff = left.tensor_ff / ff;
              if (level > 0) {
                layout.tensor_model.at[in] = rest.tensor_model;
                layout.tensor_ff.at[in] = rest.tensor_ff;
              }
              layout.tensor_model.at[level] = model;
              layout.tensor_ff.at[level] = ff;
              NetworkTimes known = network;
              const auto tensor = collapsed_[in].tensor(layout.tensor_model, layout.tensor_ff);
              known.tensor = tensor[0];
              known.tensor_latency = tensor[1];
              if (could_improve(path, known)) {
                place_stages(path, level, rest, known,
                             {room.here / ff, room.inside / rest.tensor_ff});
              }
            });
      });
}

// Stages and experts in the room that tensor ranks leave.
void Placements::place_stages(Path& path, std::size_t level, const Degrees& left,
                              const NetworkTimes& network, Room all) {
  Layout& layout = path.layout;
  const std::size_t in = level > 0 ? level - 1 : 0;
  Degrees rest = left;
  for_each_part(inner_parts_[level], left.pipeline, all.here, all.inside, [&](std::int64_t stages) {
    if (stages > 1 && !may_lie(path, level, kPipeline)) return;
    rest.pipeline = left.pipeline / stages;
    const Room room{all.here / stages, all.inside / rest.pipeline};
    for_each_part(
        inner_parts_[level], left.expert, room.here, room.inside, [&](std::int64_t experts) {
          if (experts > 1 && !may_lie(path, level, kExpert)) return;
          rest.expert = left.expert / experts;
          if (level > 0) {
            layout.pipeline.at[in] = rest.pipeline;
            layout.expert.at[in] = rest.expert;
          }
          layout.pipeline.at[level] = stages;
          layout.expert.at[level] = experts;
          NetworkTimes known = network;
          const auto pipeline =
              collapsed_[in].pipeline(layout.pipeline, layout.expert, layout.interleave);
          known.pipeline = pipeline[0];
          known.pipeline_latency = pipeline[1];
          if (could_improve(path, known)) {
            place_data(path, level, rest, known, {room.here / experts, room.inside / rest.expert});
          }
        });
  });
}

// Replicas take the room that is left, if they can, and the next level inwards is placed.
void Placements::place_data(Path& path, std::size_t level, const Degrees& left,
                            NetworkTimes network, Room room) {
  if (left.data % room.here != 0 || left.data / room.here != room.inside) return;
  if (room.here > 1 && !may_lie(path, level, kData)) return;
  Layout& layout = path.layout;
  const std::size_t in = level > 0 ? level - 1 : 0;
  Degrees rest = left;
  rest.data = left.data / room.here;
  if (level > 0) layout.data.at[in] = rest.data;
  layout.data.at[level] = room.here;
  if (!has_memory(path, level)) return;
  network.data = collapsed_[in].data_bandwidth(layout.data);
  network.data_latency = collapsed_[in].data_latency(layout.data);
  if (level == 0) {
    finish(path, network);
  } else if (could_improve(path, network)) {
    place(path, in, rest, network);
    // What was moved further inwards lies on one level again.
    for (const auto& [split, degree] :
         {std::pair(&layout.tensor_model, rest.tensor_model),
          std::pair(&layout.tensor_ff, rest.tensor_ff), std::pair(&layout.pipeline, rest.pipeline),
          std::pair(&layout.expert, rest.expert)}) {
      for (std::size_t inner = 0; inner < in; ++inner) split->at[inner] = 1;
      split->at[in] = degree;
    }
    for (std::size_t inner = 0; inner < in; ++inner) layout.data.at[inner] = 1;
  }
}

void Placements::finish(const Path& path, const NetworkTimes& network) {
  const Candidate& of = path.candidate;
  const Seconds time = step_time(setting_, of.matmul, network, of.bubble, of.zero_bubble);
  const Seconds communication = communication_of(network);
  if (time > best_time_ || (time == best_time_ && communication >= best_communication_)) return;
  if (time == best_time_ && !found_) return;  // the cap itself is too long
  found_ = true;
  best_time_ = time;
  best_communication_ = communication;
  best_ = path.layout;
}

}  // namespace headway::limits
