// What makes it illegal to cut a model's layers and experts over ranks.
#include <algorithm>

#include "layout/check_rules.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

class SplitRules : Rules {
 public:
  SplitRules(const Model& model, const Layout& layout, CheckFindings& found)
      : Rules(found), model_(model), layout_(layout) {}

  void widths(const Layer& layer) {
    if (layer.attention) {
      const Attention& attention = *layer.attention;
      divides("tp", layout_.tp, attention.heads, "the attention heads");
      const std::int64_t kv = attention.kv_heads;
      if (!attention.latent && kv % layout_.tp != 0 && layout_.tp % kv != 0) {
        fail("tp", std::to_string(layout_.tp) + " neither divides nor is a multiple of the " +
                       std::to_string(kv) + " key-value heads; legal: " + divisors_text(kv) +
                       " or a multiple of " + std::to_string(kv));
      }
      if (layout_.cp > 1 && attention.linear) {
        fail("cp", "linear attention is not computed over split sequences here; legal: 1",
             Trouble::unsupported);
      }
      if (layout_.cp > 1 && layout_.context_exchange == ContextExchange::all_to_all) {
        divides("cp", layout_.cp * layout_.tp, attention.heads,
                "(as cp x tp, heads exchanged for tokens) the attention heads");
      }
    }
    if (layer.feed_forward) {
      divides("tp", layout_.tp, layer.feed_forward->width, "the feed-forward width");
    }
    if (layer.experts && layout_.etp > 1) {
      divides("etp", layout_.etp, layer.experts->each.width, "the expert width");
    }
    if (layer.experts && layer.experts->shared_width > 0) {
      divides("tp", layout_.tp, layer.experts->shared_width, "the shared expert's width");
    }
  }

  // Of weights that layers share, if there are any.
  void whole(const char* field, bool legal, const char* what) {
    const bool shares = std::any_of(model_.kinds.begin(), model_.kinds.end(),
                                    [](const Layer& layer) { return !layer.modules.empty(); });
    if (legal || !shares) return;
    fail(field, "weights that layers of " + model_.name + " share " + what, Trouble::unsupported);
  }

  // Of their channels no gradient is known over several ranks.
  void trained(const Layer& layer) {
    const bool selective = layer.attention && layer.attention->linear &&
                           layer.attention->linear->form == LinearForm::selective;
    if (layout_.tp == 1 || !selective) return;
    fail("tp", "selective state spaces are not trained over split channels here; legal: 1",
         Trouble::unsupported);
  }

  void experts(std::int64_t copies) {
    std::int64_t count = 0;
    for (const Layer& layer : model_.kinds) {
      if (layer.experts) count = layer.experts->count;
    }
    if (count == 0) {
      if (layout_.ep > 1) fail("ep", "model " + model_.name + " has no experts; legal: 1");
      if (layout_.etp > 1) fail("etp", "model " + model_.name + " has no experts; legal: 1");
      return;
    }
    divides("ep", layout_.ep, count + copies, "the experts");
    divides("ep", layout_.ep * layout_.etp, layout_.dp * layout_.cp * layout_.tp,
            "(as ep x etp) the ranks of a pipeline stage");
  }

 private:
  const Model& model_;
  const Layout& layout_;
};

// A network of modules.
class NetworkRules : CheckRules {
 public:
  NetworkRules(const Run& run, const Layout& layout, CheckFindings& found)
      : CheckRules(run, layout, found) {}

  void check() {
    only_one("tp", layout_.tp);
    only_one("cp", layout_.cp);
    only_one("pp", layout_.pp);
    only_one("vpp", layout_.vpp);
    only_one("etp", layout_.etp);
    if (run_.job.sequence != 1) {
      fail("seq",
           run_.model.name + " takes whole samples (" + run_.model.sample + "); leave it out");
    }
    tables();
    for (const ClassField& field : kClassFields) strategy(field);
    if (run_.job.task == Task::lora) {
      fail("task", "lora is for transformers; legal: pretrain, finetune", Trouble::unsupported);
    }
    if (layout_.recompute == Recompute::selective || layout_.recompute == Recompute::every_second) {
      fail("recompute", "of pieces is for transformers; legal: none, full", Trouble::unsupported);
    }
    if (run_.job.optimizer == Optimizer::muon) {
      fail("optimizer", "muon is priced for transformers alone", Trouble::unsupported);
    }
  }

 private:
  void only_one(const char* field, std::int64_t degree) {
    if (degree == 1) return;
    fail(field,
         "is " + std::to_string(degree) + ", but " + run_.model.name +
             " is a network of modules, whose ranks are copies (dp) or shards (zero) of it"
             "; legal: 1",
         Trouble::unsupported);
  }

  void tables() {
    const bool features = has_node_features(run_.model);
    if (!has_tables(run_.model) && !features) {
      if (layout_.ep > 1) fail("ep", "model " + run_.model.name + " has no tables; legal: 1");
      return;
    }
    if (features && layout_.tables != TableSplit{.cached = layout_.tables.cached}) {
      fail("tables",
           "features of a graph's nodes lie evenly on all ranks; legal: table-cache alone",
           Trouble::unsupported);
    }
    if (layout_.ep != layout_.dp) {
      fail("ep",
           "is " + std::to_string(layout_.ep) + ": the tables lie on all ranks; legal: dp, " +
               std::to_string(layout_.dp),
           Trouble::unsupported);
    }
    if (layout_.zero > 1) {
      fail("zero", "of networks with tables is 0 or 1", Trouble::unsupported);
    }
    for (const Layer& layer : run_.model.kinds) {
      for (const NetworkModule& module : layer.modules) {
        if (const auto* bags = std::get_if<EmbeddingBags>(&module.shape)) tables(*bags);
      }
    }
  }

  // Of some tables a scheme needs so many rows, widths that divide, ranks of several nodes.
  void tables(const EmbeddingBags& bags) {
    const TableSplit& split = layout_.tables;
    const bool cuts = split.uses(TableScheme::column_wise) || split.uses(TableScheme::grid);
    if (cuts && bags.width % split.columns != 0) {
      fail("table-columns", std::to_string(split.columns) +
                                " must divide the width of the tables, " +
                                std::to_string(bags.width));
    }
    if (layout_.dp == 1) {
      if (split == TableSplit{.columns = split.columns, .cached = split.cached, .hits = split.hits})
        return;
      fail("tables", "lie whole on the one rank; leave out what splits or copies them");
      return;
    }
    if (split.uses(TableScheme::table_row_wise) || split.uses(TableScheme::grid)) {
      several_nodes("tables");
    }
    named_tables(split, bags.tables.size());
    std::int64_t few = 0, fewest = 0;
    for (std::size_t at = 0; at < bags.tables.size(); ++at) {
      const EmbeddingTable& table = bags.tables[at];
      const TableScheme scheme = split.of(at, table.rows);
      const std::int64_t ranks = scheme == TableScheme::row_wise ? layout_.ep
                                 : by_node(scheme)               ? layout_.node_ranks
                                                                 : 1;
      if (table.rows >= ranks) continue;
      ++few;
      fewest = std::max(fewest, ranks);
    }
    if (few > 0) {
      fail("tables", std::to_string(few) + " of " + std::to_string(bags.tables.size()) +
                         " tables have fewer rows than the " + std::to_string(fewest) +
                         " ranks that would share them; copy-below " + std::to_string(fewest) +
                         " copies these");
    }
  }
  // A table that is named lies in one way, and is one of the network's.
  void named_tables(const TableSplit& split, std::size_t tables) {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < split.named.size(); ++i) {
      const std::uint64_t named = split.named[i];
      const std::string field = std::string(kTableSchemeNames[i]) + "-tables";
      if (tables < kNamedTables && named >> tables != 0) {
        fail(field.c_str(),
             "names a table that is none; they are 0 to " + std::to_string(tables - 1));
      }
      if ((named & before) != 0) {
        fail(field.c_str(), "names a table that another list names, too");
      }
      before |= named;
    }
  }
  static bool by_node(TableScheme scheme) {
    return scheme == TableScheme::table_row_wise || scheme == TableScheme::grid;
  }

  void several_nodes(const char* field) {
    if (layout_.node_ranks > 1) return;
    fail(field, "within nodes needs several nodes that the ranks fill, of more than one rank each");
  }

  struct ClassField {
    ModuleClass of;
    const char* name;
    const char* what;
  };
  static constexpr ClassField kClassFields[] = {
      {ModuleClass::convolution, "convolutions", "convolutions"},
      {ModuleClass::attention, "attentions", "attention"},
      {ModuleClass::feed_forward, "feed-forwards", "feed-forward parts"},
      {ModuleClass::bottom, "bottom-mlp", "projections before tables"},
      {ModuleClass::top, "top-mlp", "projections of their own"},
      {ModuleClass::interaction, "interactions", "interaction with weights"},
      {ModuleClass::experts, "expert-mlp", "experts"},
  };

  // A class of which nothing is trained, and what it cannot be split by.
  void strategy(const ClassField& field) {
    const Strategy strategy = layout_.of(field.of);
    if (strategy == Strategy::usual) return;
    double weights = 0;
    for_class(field.of, [&](const NetworkModule& module) { weights += module_weights(module); });
    if (!(weights > 0)) {
      return fail(field.name,
                  run_.model.name + " has no " + field.what + " that are trained; leave it out");
    }
    if (layout_.dp == 1) return fail(field.name, "splits over ranks, of which there is one");
    if (is_in_node(strategy)) {
      several_nodes(field.name);
      if (layout_.node_ranks == 1) return;
    }
    const std::int64_t ranks = is_in_node(strategy) ? layout_.node_ranks : layout_.dp;
    if (is_spread(strategy)) return spread_experts(field, ranks);
    if (!is_tensor(strategy)) return;
    if (field.of == ModuleClass::convolution || field.of == ModuleClass::experts) {
      const bool experts = field.of == ModuleClass::experts;
      return fail(field.name,
                  std::string("are not split by tensors; legal: default, data, sharded, "
                              "sharded-in-node") +
                      (experts ? ", spread, spread-in-node" : ""),
                  Trouble::unsupported);
    }
    std::int64_t odd = 0;
    for_class(field.of, [&](const NetworkModule& module) {
      const std::int64_t width = split_width(module);
      if (odd == 0 && width % ranks != 0) odd = width;
    });
    if (odd > 0) {
      fail(field.name, "by tensors over " + std::to_string(ranks) + " ranks needs them to divide " +
                           std::to_string(odd) + ", a width or number of heads");
    }
  }
  // Each rank has as many whole experts.
  void spread_experts(const ClassField& field, std::int64_t ranks) {
    if (field.of != ModuleClass::experts) {
      return fail(field.name, "are no experts, which alone are spread");
    }
    std::int64_t odd = 0;
    for_class(field.of, [&](const NetworkModule& module) {
      const std::int64_t experts = std::get<ExpertProjection>(module.shape).experts;
      if (odd == 0 && experts % ranks != 0) odd = experts;
    });
    if (odd > 0) {
      fail(field.name, "spreads experts over " + std::to_string(ranks) +
                           " ranks, which must divide their number, " + std::to_string(odd));
    }
  }
  template <class Body>
  void for_class(ModuleClass of, const Body& body) {
    for (const Layer& layer : run_.model.kinds) {
      for (const NetworkModule& module : layer.modules) {
        if (module.of == of && !module.frozen) body(module);
      }
    }
  }
  // What ranks must divide; 0: nothing.
  static std::int64_t split_width(const NetworkModule& module) {
    if (const auto* core = std::get_if<AttentionCore>(&module.shape)) return core->heads;
    const auto* projection = std::get_if<Projection>(&module.shape);
    if (projection == nullptr) return 0;
    return module.half == Half::last ? projection->in : projection->out;
  }
};

}  // namespace

std::string divisors_text(std::int64_t number) {
  std::string out;
  for (std::int64_t d = 1; d <= std::min<std::int64_t>(number, 1024); ++d) {
    if (number % d != 0) continue;
    if (!out.empty()) out += ", ";
    out += std::to_string(d);
  }
  return out;
}

void check_widths(const Model& model, const Layout& layout, CheckFindings& found) {
  SplitRules rules(model, layout, found);
  for (const Layer& layer : model.kinds) rules.widths(layer);
  rules.whole("tp", layout.tp == 1, "are not split by tensors; legal: 1");
  rules.whole("pp", layout.pp == 1, "would lie on several stages; legal: 1");
}

// [MODEL-10] Weights that layers share are held once, and whole when they are used.
void check_trained(const Run& run, const Layout& layout, CheckFindings& found) {
  SplitRules rules(run.model, layout, found);
  for (const Layer& layer : run.model.kinds) rules.trained(layer);
  rules.whole("zero", layout.zero < 3,
              "are gathered for each use, which is not known; legal: 0, 1, 2");
  rules.whole("task", run.job.task != Task::lora,
              "take no further adapters; legal: pretrain, finetune");
  rules.whole("optimizer", run.job.optimizer != Optimizer::muon, "are not orthogonalised here");
}

void check_experts(const Model& model, const Layout& layout, CheckFindings& found,
                   std::int64_t copies) {
  SplitRules(model, layout, found).experts(copies);
}

void check_network(const Run& run, const Layout& layout, CheckFindings& found) {
  NetworkRules(run, layout, found).check();
}

Problems check_split(const Model& model, const Layout& layout, std::int64_t copies) {
  CheckFindings found;
  check_widths(model, layout, found);
  check_experts(model, layout, found, copies);
  return found.problems;
}

}  // namespace headway
