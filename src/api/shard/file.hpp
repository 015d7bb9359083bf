// The file of one part of a command's work: what was asked of which version with which data, and
// what the part came to; and the parts of one request brought together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/shard.hpp"

namespace headway {

struct ShardFile {
  std::string version;                       // of Headway
  std::string data;                          // digest of what the program carries
  std::vector<std::string> arguments;        // of the command line, without those about the part
  std::map<std::string, std::string> files;  // that were read for it: the digest of each
  Shard shard;
  PartLines found;
};

std::string shard_file_text(const ShardFile& file);
/// `name` is shown in messages. What is truncated or changed is a problem.
Result<ShardFile> read_shard_file(std::string_view text, const std::string& name);

/// The largest such file, in bytes.
constexpr std::size_t kLargestShardFile = 16 * 1024 * 1024;

struct NamedShardFile {
  std::string name;
  ShardFile file;
};
/// What all parts came to, in their order, whatever order the files are in; or everything that is
/// wrong: parts of other requests, data or versions, parts that are missing or doubled.
Result<std::vector<PartLines>> all_parts(const std::vector<NamedShardFile>& files);

}  // namespace headway
