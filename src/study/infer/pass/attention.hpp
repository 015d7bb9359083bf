// What attention takes in a pass.
#pragma once

#include "study/infer/items.hpp"
#include "study/infer/pass/context.hpp"

namespace headway {

/// Of one layer; `item`: its op, whose operations and bytes become those over the cache.
Seconds attention_time(const PassContext& of, AttentionShape core, const Attention& attention,
                       PassItem& item);

}  // namespace headway
