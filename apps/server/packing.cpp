#include "packing.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "platform/gzip.hpp"

namespace headway {
namespace {

constexpr std::size_t kWorthPacking = 1024;  // bytes

// What stands up to the separator, which is taken from the text with it.
std::string_view next_item(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view out = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

bool is_zero(std::string_view weight) {
  return weight.starts_with("q=0") && weight.find_first_not_of("0.", 3) == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  std::string said = lower(accept_encoding);
  std::erase_if(said, [](char c) { return c == ' ' || c == '\t'; });
  std::optional<bool> named, any;
  for (std::string_view rest = said; !rest.empty();) {
    std::string_view weight = next_item(rest, ',');
    const std::string_view name = next_item(weight, ';');
    if (name == "gzip" || name == "x-gzip") named = !is_zero(weight);
    if (name == "*") any = !is_zero(weight);
  }
  return named ? *named : any.value_or(false);
}

HttpReply packed(HttpReply reply) {
  const auto is_of_content = [](const auto& header) {
    return header.first == "Content-Encoding" || header.first == "ETag";
  };
  if (std::any_of(reply.headers.begin(), reply.headers.end(), is_of_content)) return reply;
  if (!reply.stream && reply.body.size() < kWorthPacking) return reply;
  reply.headers.emplace_back("Content-Encoding", "gzip");
  if (!reply.stream) {
    reply.body = GzipPacker().last(reply.body);
    return reply;
  }
  reply.stream = [stream = std::move(reply.stream)](const Send& send) {
    GzipPacker packer;
    stream([&](std::string_view piece) { return send(packer.piece(piece)); });
    send(packer.last({}));
  };
  return reply;
}

}  // namespace headway
