#include "study/infer/engines.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

ShareOf share_of(Fields& fields) {
  const std::string said = fields.text_or("share_of", "memory");
  if (said == "pool") return ShareOf::pool;
  if (said == "free") return ShareOf::free;
  if (said != "memory") fields.fail("share_of", "must be memory, pool or free");
  return ShareOf::memory;
}

// Tables by name: of each what `read` makes of it.
template <class T, class Read>
std::map<std::string, T, std::less<>> read_each(Fields fields, const Read& read) {
  std::map<std::string, T, std::less<>> out;
  for (const std::string& name : fields.keys()) {
    Fields of = fields.table(name);
    out[name] = read(of);
    of.reject_unknown();
  }
  fields.reject_unknown();
  return out;
}

EngineHost read_host(Fields& fields) {
  EngineHost out;
  out.step = fields.quantity_or<Seconds>("step", Seconds(0));
  out.sequence = fields.quantity_or<Seconds>("sequence", Seconds(0));
  out.prompt = fields.quantity_or<Seconds>("prompt", Seconds(0));
  out.token = fields.quantity_or<Seconds>("token", Seconds(0));
  Fields layer = fields.table("layer");
  for (const std::string& architecture : layer.keys()) {
    out.layer[architecture] = layer.quantity<Seconds>(architecture);
  }
  layer.reject_unknown();
  out.launch = fields.quantity<Seconds>("launch");
  out.experts = fields.quantity_or<Seconds>("experts", Seconds(0));
  out.request = fields.quantity_or<Seconds>("request", Seconds(0));
  out.starts = read_each<Start>(fields.table("starts"), [](Fields& of) {
    return Start{of.quantity_or<Seconds>("first", Seconds(0)),
                 of.quantity_or<Seconds>("full", Seconds(0))};
  });
  return out;
}

void read_kernels(Fields& fields, Engine& engine) {
  engine.untuned.merge(read_each<Untuned>(fields.table("untuned"), [](Fields& of) {
    return Untuned{of.number_or("products", 0), of.number_or("attention", 0),
                   of.number_or("weights", 0), of.number_or("blocks", 0),
                   of.number_or("exchanged", 0)};
  }));
  Fields grouped = fields.table("grouped");
  engine.grouped = {grouped.count_or("queries", 0), grouped.count_or("head_dim", 0),
                    grouped.number_or("others", 1)};
  grouped.reject_unknown();
  engine.own_all_reduce = fields.flag_or("own_all_reduce", false);
  engine.sorts_tokens = fields.flag_or("sorts_tokens", false);
  engine.fuses_casts = fields.texts_or_empty("fuses_casts");
  engine.weights = fields.texts_or_empty("weights");
  engine.caches = fields.texts_or_empty("caches");
  for (const std::string& format : engine.caches) {
    if (cache_format(format) == nullptr) fields.fail("caches", "no format is " + format);
  }
}

void read_memory(Fields& fields, Engine& engine) {
  engine.memory = fields.number("memory");
  engine.reserved = fields.quantity<Bytes>("reserved");
  engine.communicators = fields.quantity<Bytes>("communicators");
  engine.sampled = fields.quantity_or<Bytes>("sampled", Bytes(0));
  engine.few_on = fields.texts_or_empty("few_on");
  engine.share_of = share_of(fields);
  Fields whole = fields.table("whole_batches");
  engine.whole = {whole.number_or("spare", 0), whole.number_or("stream", 0),
                  whole.number_or("heads", 0), whole.number_or("feed_forward", 0)};
  whole.reject_unknown();
}

// [INFER-41]
ReplayedGraphs read_graphs(Fields fields) {
  const ReplayedGraphs out{
      fields.number_or("count", 0), fields.quantity_or<Bytes>("fixed", Bytes(0)),
      fields.quantity_or<Bytes>("layer", Bytes(0)),
      fields.quantity_or<Seconds>("launch", Seconds(0)), fields.texts_or_empty("without")};
  fields.reject_unknown();
  return out;
}

Policy read_policy(Fields& fields) {
  Policy out;
  out.most_tokens = fields.count_or("most_tokens", out.most_tokens);
  out.most_sequences = fields.count_or("most_sequences", out.most_sequences);
  out.prompts_first = fields.flag_or("prompts_first", out.prompts_first);
  out.whole_prompts = fields.flag_or("whole_prompts", out.whole_prompts);
  out.polls = fields.count_or("polls", out.polls);
  out.reserve = fields.flag_or("reserve", out.reserve);
  out.block = fields.count_or("block", out.block);
  return out;
}

// `before`: the engines above it, of which one's host may be its own, too.
Engine read_engine(Fields& fields, const std::string& name, const std::vector<Engine>& before) {
  Engine out;
  out.name = name;
  out.age = fields.text("age");
  out.like = fields.text_or("like", "");
  if (fields.has("host")) {
    const auto host = std::find_if(before.begin(), before.end(), [&](const Engine& each) {
      return each.name == fields.text("host");
    });
    if (host == before.end()) {
      fields.fail("host", "no engine above has this name");
    } else {
      static_cast<EngineHost&>(out) = *host;
      out.starts.clear();           // its own server's
      out.untuned = host->untuned;  // what nobody measured of its kernels is as of the other's
    }
  } else {
    static_cast<EngineHost&>(out) = read_host(fields);
  }
  read_kernels(fields, out);
  read_memory(fields, out);
  out.graphs = read_graphs(fields.table("graphs"));
  out.policy = read_policy(fields);
  out.splits_layers = fields.flag_or("splits_layers", false);
  for (const char* said : {"source", "kind", "date"}) fields.text(said);
  fields.reject_unknown();
  return out;
}

Result<std::vector<Engine>> read_engines() {
  const auto document = embedded_document("serving/engines.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  std::vector<Engine> out;
  for (const std::string& name : root.keys()) {
    Fields fields = root.table(name);
    out.push_back(read_engine(fields, name, out));
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace

const Result<std::vector<Engine>>& engines() {
  static const Result<std::vector<Engine>> read = read_engines();
  return read;
}

}  // namespace headway
