#include "simulate/codesign/choice.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::array<ChoiceForm, 7> kForms = {{
    {DesignLayer::strategy, "compression=NAME",
     "gradients: fp16, 8-bit, qsgd, terngrad, 1-bit, top-k:SHARE, powersgd:RANK"},
    {DesignLayer::strategy, "synchronisation=NAME", "stale:S, local-sgd:H, gossip:NEIGHBOURS"},
    {DesignLayer::order, "priority", "gradients that the next forward pass needs first go first"},
    {DesignLayer::library, "algorithm=GROUP.OP=NAME", "of calls, as dp.all_reduce=themis, or best"},
    {DesignLayer::network, "in-network=LEVEL", "switches of the level add up"},
    {DesignLayer::network, "full-bisection=LEVEL", "the level without oversubscription"},
    {DesignLayer::network, "torus=LEVEL", "the level as a torus of two dimensions"},
}};

// Fields of a run that are no choice of how it communicates.
constexpr std::array<std::string_view, 6> kWhatIsRun = {"model",        "cluster", "seq",
                                                        "global-batch", "gpus",    "task"};
// Those of a layer below the strategy.
constexpr std::array<std::pair<std::string_view, DesignLayer>, 8> kLayerOfField = {{
    {"bucket-size", DesignLayer::order},
    {"overlap-gradients", DesignLayer::order},
    {"overlap-parameters", DesignLayer::order},
    {"overlap-tensor", DesignLayer::order},
    {"overlap-experts", DesignLayer::order},
    {"dispatch", DesignLayer::library},
    {"cp-exchange", DesignLayer::library},
    {"order", DesignLayer::paths},
}};

class ChoiceReader {
 public:
  ChoiceReader(const std::string& text, Problems& problems)
      : text_(text), problems_(problems), before_(problems.size()) {
    const std::size_t equals = text.find('=');
    name_ = lower(text.substr(0, equals));
    if (equals != text.npos) value_ = text.substr(equals + 1);
  }

  void read(std::vector<DesignChoice>& into) {
    DesignChoice out{.kind = name_, .text = text_, .apply = {}};
    const bool known = name_ == "compression"       ? compression(out)
                       : name_ == "synchronisation" ? synchronisation(out)
                       : name_ == "priority"        ? priority(out)
                       : name_ == "algorithm"       ? algorithm(out)
                                                    : level(out) || field(out);
    if (!known) {
      std::vector<std::string> names;
      for (const ChoiceForm& form : kForms) {
        names.emplace_back(form.text.substr(0, form.text.find('=')));
      }
      for (const RunField& each : run_fields()) {
        if (is_choice(each.name)) names.emplace_back(each.name);
      }
      fail("'" + printable(name_) + "' is not known" + suggestion(name_, names), Trouble::unknown);
    }
    if (problems_.size() == before_) into.push_back(std::move(out));
  }

 private:
  void fail(std::string message, Trouble kind = Trouble::illegal) {
    problems_.push_back(
        {FieldName("choice"), "'" + printable(text_) + "': " + std::move(message), kind});
  }

  static bool is_choice(std::string_view name) {
    return std::find(kWhatIsRun.begin(), kWhatIsRun.end(), name) == kWhatIsRun.end();
  }

  // "powersgd:4" in two.
  std::pair<std::string, std::string> parts() const {
    const std::size_t colon = value_.find(':');
    return {lower(value_.substr(0, colon)),
            colon == value_.npos ? std::string() : value_.substr(colon + 1)};
  }

  std::int64_t number(const std::string& given, std::int64_t usual, std::int64_t least,
                      std::int64_t most) {
    if (given.empty()) return usual;
    const auto found = whole_number(given);
    if (found && *found >= least && *found <= most) return *found;
    fail("'" + printable(given) + "' must be a whole number from " + std::to_string(least) +
         " to " + std::to_string(most));
    return usual;
  }

  // Null where there is none, which is a problem.
  template <class Rows>
  auto row_named(const std::string& name, const Rows& rows) {
    std::vector<std::string> names;
    for (const auto& row : rows) {
      if (row.name == name) return &row;
      names.emplace_back(row.name);
    }
    fail(not_known(name, names), Trouble::unknown);
    return static_cast<decltype(&*std::begin(rows))>(nullptr);
  }

  bool compression(DesignChoice& out) {
    const auto [name, given] = parts();
    const auto* const row = row_named(name, kCompressors);
    if (row == nullptr) return true;
    Compression made{.by = row->compressor};
    if (row->compressor == Compressor::powersgd) {
      made.rank = number(given, made.rank, 1, 4096);
    } else if (row->compressor == Compressor::top_k) {
      if (!given.empty()) made.share = share(given, made.share);
    } else if (!given.empty()) {
      fail("'" + name + "' takes no number");
    }
    out.changes_result = row->compressor != Compressor::none;
    out.apply = [made](Design& design) { design.compression = made; };
    return true;
  }

  double share(const std::string& given, double usual) {
    char* end = nullptr;
    const double found = std::strtod(given.c_str(), &end);
    const std::string_view rest = end;
    const double out = rest == "%" ? found / 100 : found;
    if ((rest.empty() || rest == "%") && out > 0 && out <= 1) return out;
    fail("'" + printable(given) + "' must be a share of the elements: 1% or 0.01");
    return usual;
  }

  bool synchronisation(DesignChoice& out) {
    const auto [name, given] = parts();
    const auto* const row = row_named(name, kAgreements);
    if (row == nullptr) return true;
    Synchronisation made{.by = row->agreement};
    if (row->most > 0) {
      made.number = number(given, row->usual, row->least, row->most);
    } else if (!given.empty()) {
      fail("'" + name + "' takes no number");
    }
    out.changes_result = row->agreement != Agreement::synchronous;
    out.apply = [made](Design& design) { design.synchronisation = made; };
    return true;
  }

  // Weights are updated part by part: no norm of all gradients bounds them.
  bool priority(DesignChoice& out) {
    if (!value_.empty()) fail("'priority' takes no value");
    out.layer = DesignLayer::order;
    out.changes_result = true;
    out.apply = [](Design& design) { design.priority = true; };
    return true;
  }

  bool algorithm(DesignChoice& out) {
    const auto read = read_call_choices(std::vector<std::string>{value_});
    if (!read) {
      for (const Problem& problem : read.problems()) fail(problem.message, problem.kind);
      return true;
    }
    const CallChoice made = read->front();
    out.layer = DesignLayer::library;
    out.kind += "=" + value_.substr(0, value_.find('='));
    out.apply = [made](Design& design) {
      std::erase_if(design.calls, [&](const CallChoice& each) {
        return each.group == made.group && each.op == made.op;
      });
      design.calls.push_back(made);
    };
    return true;
  }

  bool level(DesignChoice& out) {
    LevelChange made{.kind = {}, .level = value_};
    if (name_ == "in-network") {
      made.kind = LevelChange::Kind::reduces;
    } else if (name_ == "full-bisection") {
      made.kind = LevelChange::Kind::full_bisection;
    } else if (name_ == "torus") {
      made.kind = LevelChange::Kind::torus;
    } else {
      return false;
    }
    if (value_.empty()) fail("needs the name of a level of the cluster");
    out.layer = DesignLayer::network;
    // Of one level one is taken, and of all one becomes a torus.
    out.kind = made.kind == LevelChange::Kind::torus ? "torus" : text_;
    out.apply = [made](Design& design) { design.levels.push_back(made); };
    return true;
  }

  bool field(DesignChoice& out) {
    const auto fields = run_fields();
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const RunField& each) { return each.name == name_; });
    if (!known || !is_choice(name_)) return false;
    for (const auto& [field, of] : kLayerOfField) {
      if (field == name_) out.layer = of;
    }
    GivenField given(name_, value_.empty() ? "true" : value_, Where(FieldName("choice")));
    out.apply = [given](Design& design) { design.fields.push_back(given); };
    return true;
  }

  const std::string& text_;
  std::string name_, value_;
  Problems& problems_;
  std::size_t before_;
};

// The groups and operations of a step that algorithms may be chosen for, gradients first.
std::vector<std::string> calls_of(const Step& step) {
  std::vector<std::string> gradients, others;
  const auto add = [&](const std::vector<Item>& items) {
    for (const Call& call : only<Call>(items)) {
      if (call.op == CollectiveOp::send_receive || call.op == CollectiveOp::broadcast) continue;
      if (is_of_two(call) || call.choices > 1) continue;
      std::string text = std::string(to_name(call.group)) + "." + std::string(to_name(call.op));
      auto& into = carries_gradients(call) ? gradients : others;
      if (std::find(into.begin(), into.end(), text) == into.end()) into.push_back(std::move(text));
    }
  };
  for (const StageClass& stage : step.stages) add(stage.items);
  for (const Block& block : step.blocks) add(block.items);
  for (std::string& each : others) {
    if (std::find(gradients.begin(), gradients.end(), each) == gradients.end()) {
      gradients.push_back(std::move(each));
    }
  }
  return gradients;
}

}  // namespace

std::span<const ChoiceForm> choice_forms() {
  return kForms;
}

Result<std::vector<DesignChoice>> read_choices(std::span<const std::string> texts) {
  std::vector<DesignChoice> out;
  Problems problems;
  for (const std::string& text : texts) ChoiceReader(text, problems).read(out);
  if (!problems.empty()) return problems;
  return out;
}

std::vector<std::string> usual_choices(const Run& run) {
  std::vector<std::string> out;
  const Layout& layout = run.layout;
  const Step step = lower(run);
  // Strategy.
  for (const std::string_view name : kScheduleNames) {
    if (layout.pp > 1 && name != kScheduleNames[static_cast<std::size_t>(layout.schedule)]) {
      out.push_back("schedule=" + std::string(name));
    }
  }
  for (const AgreementRow& each : kAgreements) {
    if (layout.dp > 1 && each.agreement != Agreement::synchronous) {
      out.push_back("synchronisation=" + std::string(each.name) + ":" + std::to_string(each.usual));
    }
  }
  for (const char* each :
       {"fp16", "8-bit", "qsgd", "terngrad", "1-bit", "top-k:1%", "powersgd:4"}) {
    if (layout.dp > 1) out.push_back("compression=" + std::string(each));
  }
  // Order and buckets.
  if (layout.dp > 1) {
    out.emplace_back("overlap-gradients=off");
    for (const char* size : {"5 MB", "25 MB", "100 MB", "400 MB"}) {
      out.push_back("bucket-size=" + std::string(size));
    }
    out.emplace_back("priority");
  }
  // Library.
  for (const std::string& call : calls_of(step)) {
    out.push_back("algorithm=" + call + "=best");
    if (call.starts_with("dp.") && !call.ends_with("all_to_all")) {
      for (const char* name : {"rings", "hierarchical", "themis"}) {
        out.push_back("algorithm=" + call + "=" + name);
      }
    }
  }
  if (layout.ep > 1) out.emplace_back("dispatch=once");
  // Paths: which groups lie on the inner levels.
  const auto order = [&](bool differs, const char* name) {
    if (differs) out.push_back("order=" + std::string(name));
  };
  order(layout.dp > 1 && layout.tp * layout.cp > 1, "dp-tp-cp-pp");
  order(layout.dp > 1 && layout.pp > 1, "tp-cp-pp-dp");
  order(layout.dp > 1 && layout.cp > 1, "tp-dp-cp-pp");
  // Network.
  for (const Level& level : run.cluster.levels) {
    if (level.topology == Topology::switched && !level.in_network_reduction) {
      out.push_back("in-network=" + level.name);
    }
    if (level.oversubscription > 1) out.push_back("full-bisection=" + level.name);
  }
  if (run.cluster.levels.back().topology == Topology::switched) {
    out.push_back("torus=" + run.cluster.levels.back().name);
  }
  return out;
}

}  // namespace headway
