// Replies packed by gzip for who takes it.
#pragma once

#include <string_view>

#include "site.hpp"

namespace headway {

/// Whether an Accept-Encoding says that gzip may come: named, or "*", and not with a weight of 0
/// (RFC 9110 §12.5.3). Who says nothing is sent nothing packed.
bool accepts_gzip(std::string_view accept_encoding);

/// The reply packed, where it is of some size or comes in pieces and is not packed yet; each piece
/// can be unpacked as it comes.
HttpReply packed(HttpReply reply);

}  // namespace headway
