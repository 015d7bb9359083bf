#include "report/infer/would_fit.hpp"

namespace headway {

void write_would_fit(JsonWriter& out, std::span<const ServingChange> changes) {
  out.key("would_fit");
  out.begin_array();
  for (const ServingChange& change : changes) {
    out.begin_object();
    for (const auto& [flag, value] : change.flags) out.member(flag, value);
    out.end_object();
  }
  out.end_array();
}

}  // namespace headway
