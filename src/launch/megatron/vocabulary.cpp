// How many rows the embedding has: what the script says, or what its tokenizer is known to have.
#include <algorithm>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "launch/document.hpp"
#include "launch/megatron/megatron.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway::launch {
namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000;

// What is known of tokenizers (data/programs/tokenizers.toml): the count that goes with a type, or
// with the name of a published one.
struct KnownTokenizer {
  std::string name;  // "organisation/name" in lower case; of a type as it is written
  std::int64_t tokens = 0;
};
struct KnownTokenizers {
  std::vector<KnownTokenizer> types, published;
};

std::vector<KnownTokenizer> read_list(const Node& root, const char* list) {
  std::vector<KnownTokenizer> out;
  const Node* rows = root.find(list);
  if (rows == nullptr || rows->array() == nullptr) return out;
  for (const Node& row : *rows->array()) {
    const Node* name = row.find("name");
    const Node* tokens = row.find("tokens");
    if (name == nullptr || tokens == nullptr) continue;
    out.push_back({scalar_text(*name), whole_number(scalar_text(*tokens)).value_or(0)});
  }
  return out;
}

const KnownTokenizers& known_tokenizers() {
  static Memo<KnownTokenizers> known;
  return known.of("tokenizers", [] {
    KnownTokenizers out;
    if (const auto document = embedded_document("programs/tokenizers.toml")) {
      out.types = read_list(document->root, "type");
      out.published = read_list(document->root, "published");
    }
    return out;
  });
}

std::int64_t tokens_of_type(const std::string& type) {
  for (const KnownTokenizer& one : known_tokenizers().types) {
    if (one.name == type) return one.tokens;
  }
  return 0;
}

// A published tokenizer by its repository's name, in whatever folder it was put:
// "/models/Llama-2-7b-hf" is meta-llama/Llama-2-7b-hf. The longest name that begins it counts.
const KnownTokenizer* published_tokenizer(const std::string& place) {
  const std::string path = lower(place);
  const KnownTokenizer* out = nullptr;
  for (const KnownTokenizer& one : known_tokenizers().published) {
    const std::string name = one.name.substr(one.name.find('/') + 1);
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      const bool here = path.substr(at, end - at).starts_with(name);
      if (here && (out == nullptr || out->name.size() < one.name.size())) out = &one;
      at = end + 1;
    }
  }
  return out;
}

}  // namespace

Vocabulary vocabulary_of(const MegatronArguments& arguments) {
  const std::int64_t tp = arguments.degree("--tensor-model-parallel-size");
  // Rows where the script asks for more than the usual multiple of 128 x tp, to which a step pads
  // by itself.
  const auto padded = [&](std::int64_t tokens) {
    const std::int64_t multiple = arguments.count("--make-vocab-size-divisible-by").value_or(128);
    if (multiple <= 128 || multiple > 1'000'000) return tokens;
    const std::int64_t unit = multiple * tp;
    return (tokens + unit - 1) / unit * unit;
  };
  Vocabulary out;
  for (const std::string_view option : {"--padded-vocab-size", "--pad-vocab-size-to"}) {
    if (!arguments.has(option)) continue;
    out.option = option;
    out.text = arguments.text(option);
    const std::int64_t rows = arguments.count(option).value_or(0);
    if (rows > 0 && rows <= kMostTokens) out.tokens = rows;
    return out;
  }
  const std::string type = arguments.text("--tokenizer-type");
  if (arguments.has("--vocab-size")) {
    out.option = "--vocab-size";
    out.text = arguments.text(out.option);
    const std::int64_t count = arguments.count(out.option).value_or(0);
    // The null tokenizer adds an end of document to it.
    if (count > 0 && count < kMostTokens) {
      out.tokens = padded(count + (type == "NullTokenizer" ? 1 : 0));
    }
    return out;
  }
  const auto known = [&](std::int64_t tokens, std::string_view option, const std::string& whose) {
    const std::int64_t more =
        std::clamp<std::int64_t>(arguments.count("--vocab-extra-ids").value_or(0), 0, kMostTokens);
    out.option = option;
    out.tokens = padded(tokens + more);
    out.note = "vocabulary of " + std::to_string(tokens) + ": that of " + whose;
  };
  for (const std::string_view option : {"--tokenizer-model", "--tokenizer-name-or-path"}) {
    const KnownTokenizer* found = published_tokenizer(arguments.text(option));
    if (found != nullptr) return known(found->tokens, option, found->name), out;
  }
  if (const std::int64_t tokens = tokens_of_type(type); tokens > 0) {
    return known(tokens, "--tokenizer-type", type), out;
  }
  // The default of pretrain_gpt.py.
  constexpr const char* kDefault = "GPT2BPETokenizer";
  if (type.empty() && (arguments.has("--vocab-file") || arguments.has("--merge-file"))) {
    const std::string_view option = arguments.has("--vocab-file") ? "--vocab-file" : "--merge-file";
    known(tokens_of_type(kDefault), option, std::string(kDefault) + ", the default");
  }
  return out;
}

}  // namespace headway::launch
