// What communication takes in a pass.
#pragma once

#include "forecast/price.hpp"
#include "step/program/program.hpp"
#include "study/infer/pass/context.hpp"

namespace headway {

/// By the library, or by kernels of the engine where it has them and they are shorter.
Seconds call_time(const PassContext& of, const Call& call, const Spans& spans);

/// [INFER-33] Of tokens to their experts or, `back`, of what those make: by kernels of their own,
/// of a prompt by those of many tokens, of decoded ones by those of few.
Seconds exchange_time(const PassContext& of, const Call& call, const Spans& spans,
                      const Experts& experts, bool back);

/// From one stage of a pipeline to the next; `layout`: of one stage.
Seconds transfer_time(const PassContext& of, const Layout& layout, Bytes bytes);

}  // namespace headway
