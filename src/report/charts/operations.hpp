// The colours of operations: one for each, in every drawing.
#pragma once

#include <span>
#include <string_view>

#include "base/draw/plot.hpp"
#include "trace/recording/operation.hpp"

namespace headway {

std::string_view colour_of(CollectiveOp op);
/// That of the same operation of a step; black for what a step has not.
std::string_view colour_of(Operation op);

void draw_operations(Svg& svg, Point at, std::span<const CollectiveOp> operations);

}  // namespace headway
