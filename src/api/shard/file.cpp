#include "api/shard/file.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/random/digest.hpp"
#include "base/text.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

// Of something that may hold any byte: no two lists have one text.
void add_text(std::string& to, std::string_view text) {
  to += std::to_string(text.size()) + ":";
  to += text;
}

std::string request_digest(const ShardFile& file) {
  std::string all;
  add_text(all, file.version);
  add_text(all, file.data);
  for (const std::string& argument : file.arguments) add_text(all, argument);
  all += ";";
  for (const auto& [path, digest] : file.files) {
    add_text(all, path);
    add_text(all, digest);
  }
  return digest_text(all);
}

std::string found_digest(const ShardFile& file) {
  std::string all = request_digest(file) + shard_text(file.shard);
  for (const auto& [name, lines] : file.found) {
    add_text(all, name);
    for (const std::string& line : lines) add_text(all, line);
    all += ";";
  }
  return digest_text(all);
}

std::string command_of(const ShardFile& file) {
  std::string out;
  for (const std::string& argument : file.arguments) {
    if (argument.starts_with('-')) break;
    out += (out.empty() ? "" : " ") + argument;
  }
  return printable(out);
}

// Why a part is not of the first one's request.
std::string difference(const ShardFile& first, const std::string& name, const ShardFile& other) {
  if (other.version != first.version) {
    return "is of headway " + printable(other.version) + ", and " + name + " of " +
           printable(first.version);
  }
  if (other.data != first.data) return "is of a headway with other data than " + name;
  if (other.arguments != first.arguments) {
    return "is of another request than " + name + ": " + printable(join(other.arguments, " "), 400);
  }
  for (const auto& [path, digest] : other.files) {
    const auto same = first.files.find(path);
    if (same == first.files.end() || same->second != digest) {
      return "read another " + printable(path) + " than " + name;
    }
  }
  return "read other files than " + name;
}

}  // namespace

std::string shard_file_text(const ShardFile& file) {
  Json files = Json::object();
  for (const auto& [path, digest] : file.files) files[path] = digest;
  Json found = Json::object();
  for (const auto& [name, lines] : file.found) found[name] = lines;
  return document_text({{"headway", file.version},
                        {"data", file.data},
                        {"command", command_of(file)},
                        {"arguments", file.arguments},
                        {"files", files},
                        {"request", request_digest(file)},
                        {"shard", shard_text(file.shard)},
                        {"found", found},
                        {"digest", found_digest(file)}});
}

Result<ShardFile> read_shard_file(std::string_view text, const std::string& name) {
  const auto document = parse_json(text, name);
  if (!document) return document.problems();
  if (document->root.find("headway") == nullptr || document->root.find("shard") == nullptr) {
    return Problem{name, "is no part of a command's work, as --shard I/N writes one",
                   Trouble::malformed};
  }
  Problems problems;
  Fields fields(*document, problems);
  ShardFile out;
  out.version = fields.text("headway");
  out.data = fields.text("data");
  const std::string command = fields.text("command");
  out.arguments = fields.texts_or_empty("arguments");
  Fields files = fields.table("files", true);
  for (const std::string& path : files.keys()) out.files[path] = files.text(path);
  const std::string request = fields.text("request");
  const auto shard = shard_from(fields.text("shard"));
  Fields found = fields.table("found", true);
  for (const std::string& each : found.keys()) out.found[each] = found.texts_or_empty(each);
  const std::string digest = fields.text("digest");
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  if (!shard) {
    fields.fail("shard", shard.problems().front().message);
    return problems;
  }
  out.shard = *shard;
  if (request != request_digest(out) || command != command_of(out) || digest != found_digest(out)) {
    return Problem{name, "was changed since it was written: its digest is another",
                   Trouble::malformed};
  }
  return out;
}

Result<std::vector<PartLines>> all_parts(const std::vector<NamedShardFile>& files) {
  if (files.empty()) return Problem{"merge", "no parts are given", Trouble::missing};
  Problems problems;
  const auto& [first_name, first] = files.front();
  std::map<std::uint64_t, const NamedShardFile*> by_place;
  for (const NamedShardFile& each : files) {
    if (request_digest(each.file) != request_digest(first)) {
      problems.push_back({each.name, difference(first, first_name, each.file)});
    } else if (each.file.shard.of != first.shard.of) {
      problems.push_back({each.name, "is part " + shard_text(each.file.shard) + ", and " +
                                         first_name + " is " + shard_text(first.shard)});
    } else if (const auto [at, is_new] = by_place.emplace(each.file.shard.index, &each); !is_new) {
      problems.push_back({each.name, "is part " + shard_text(each.file.shard) + " again, as " +
                                         at->second->name + " is"});
    }
  }
  if (by_place.size() < first.shard.of) {
    std::vector<std::string> missing;
    constexpr std::size_t kShown = 5;
    for (std::uint64_t i = 0; i < first.shard.of && missing.size() < kShown; ++i) {
      if (!by_place.contains(i)) missing.push_back(shard_text({i, first.shard.of}));
    }
    const std::uint64_t count = first.shard.of - by_place.size();
    problems.push_back(
        {"merge",
         (count == 1 ? "a part is missing: " : std::to_string(count) + " parts are missing: ") +
             join(missing, ", ") + (count > missing.size() ? ", ..." : ""),
         Trouble::missing});
  }
  if (!problems.empty()) return problems;
  std::vector<PartLines> out;
  for (const auto& [place, each] : by_place) out.push_back(each->file.found);
  return out;
}

}  // namespace headway
