#include "study/infer/engines.hpp"

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

Result<std::vector<Engine>> read_engines() {
  const auto document = embedded_document("serving/engines.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  std::vector<Engine> out;
  for (const std::string& name : root.keys()) {
    Fields fields = root.table(name);
    Engine engine;
    engine.name = name;
    engine.age = fields.text("age");
    engine.like = fields.text_or("like", "");
    engine.step = fields.quantity_or<Seconds>("step", Seconds(0));
    engine.sequence = fields.quantity_or<Seconds>("sequence", Seconds(0));
    engine.prompt = fields.quantity_or<Seconds>("prompt", Seconds(0));
    engine.token = fields.quantity_or<Seconds>("token", Seconds(0));
    Fields layer = fields.table("layer");
    for (const std::string& architecture : layer.keys()) {
      engine.layer[architecture] = layer.quantity<Seconds>(architecture);
    }
    layer.reject_unknown();
    Fields untuned = fields.table("untuned");
    for (const std::string& architecture : untuned.keys()) {
      Fields of = untuned.table(architecture);
      engine.untuned[architecture] = {of.number_or("products", 0), of.number_or("attention", 0),
                                      of.number_or("weights", 0)};
      of.reject_unknown();
    }
    untuned.reject_unknown();
    Fields grouped = fields.table("grouped");
    engine.grouped = {grouped.count_or("queries", 0), grouped.count_or("head_dim", 0),
                      grouped.number_or("others", 1)};
    grouped.reject_unknown();
    engine.request = fields.quantity_or<Seconds>("request", Seconds(0));
    Fields starts = fields.table("starts");
    for (const std::string& release : starts.keys()) {
      Fields of = starts.table(release);
      engine.starts[release] = {of.quantity_or<Seconds>("first", Seconds(0)),
                                of.quantity_or<Seconds>("full", Seconds(0))};
      of.reject_unknown();
    }
    starts.reject_unknown();
    engine.launch = fields.quantity<Seconds>("launch");
    engine.experts = fields.quantity_or<Seconds>("experts", Seconds(0));
    engine.memory = fields.number("memory");
    engine.reserved = fields.quantity<Bytes>("reserved");
    engine.communicators = fields.quantity<Bytes>("communicators");
    engine.sampled = fields.quantity_or<Bytes>("sampled", Bytes(0));
    engine.few_on = fields.texts_or_empty("few_on");
    engine.share_of = share_of(fields);
    engine.own_all_reduce = fields.flag_or("own_all_reduce", false);
    engine.sorts_tokens = fields.flag_or("sorts_tokens", false);
    engine.fuses_casts = fields.texts_or_empty("fuses_casts");
    Policy& policy = engine.policy;
    policy.most_tokens = fields.count_or("most_tokens", policy.most_tokens);
    policy.most_sequences = fields.count_or("most_sequences", policy.most_sequences);
    policy.prompts_first = fields.flag_or("prompts_first", policy.prompts_first);
    policy.whole_prompts = fields.flag_or("whole_prompts", policy.whole_prompts);
    policy.polls = fields.count_or("polls", policy.polls);
    policy.reserve = fields.flag_or("reserve", policy.reserve);
    policy.block = fields.count_or("block", policy.block);
    Fields whole = fields.table("whole_batches");
    engine.whole = {whole.number_or("spare", 0), whole.number_or("stream", 0),
                    whole.number_or("heads", 0), whole.number_or("feed_forward", 0)};
    whole.reject_unknown();
    engine.splits_layers = fields.flag_or("splits_layers", false);
    engine.weights = fields.texts_or_empty("weights");
    engine.caches = fields.texts_or_empty("caches");
    for (const std::string& format : engine.caches) {
      if (cache_format(format) == nullptr) fields.fail("caches", "no format is " + format);
    }
    for (const char* said : {"source", "kind", "date"}) fields.text(said);
    fields.reject_unknown();
    out.push_back(std::move(engine));
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
