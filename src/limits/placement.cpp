#include "limits/placement.hpp"

#include <limits>

#include "limits/divisors.hpp"

namespace headway::limits {

Placements::Placements(const Setting& setting, const Network& network, std::int64_t gpus,
                       Seconds cap)
    : setting_(setting),
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
  }
}

void Placements::consider(const Candidate& candidate) {
  Path path{candidate, {}};
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
        const Room room{all.here / model, all.inside / rest.tensor_model};
        for_each_part(
            inner_parts_[level], left.tensor_ff, room.here, room.inside, [&](std::int64_t ff) {
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
    rest.pipeline = left.pipeline / stages;
    const Room room{all.here / stages, all.inside / rest.pipeline};
    for_each_part(
        inner_parts_[level], left.expert, room.here, room.inside, [&](std::int64_t experts) {
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
  Layout& layout = path.layout;
  const std::size_t in = level > 0 ? level - 1 : 0;
  Degrees rest = left;
  rest.data = left.data / room.here;
  if (level > 0) layout.data.at[in] = rest.data;
  layout.data.at[level] = room.here;
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
