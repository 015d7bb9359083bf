#include "forecast/predict/signature.hpp"

#include <string_view>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "base/random/digest.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/embedded.hpp"
#include "run/run.hpp"

namespace headway {

Result<std::string> signature() {
  const std::string file = "cases.toml";
  const auto text = embedded_file(file);
  if (!text) return Problem{file, "is missing from the binary"};
  const auto document = parse_toml(*text, file);
  if (!document) return document.problems();
  // Of every case's name and numbers, rounded so that a compiler's choice of instructions
  // does not show.
  std::uint64_t digest = digest_of("");
  const auto feed = [&](std::string_view bytes) { digest = digest_of(bytes, digest); };
  for (const auto& [name, node] : *document->root.table()) {
    const auto request = run_request_from(node, file);
    if (!request) return request.problems();
    const auto run = make_run(*request);
    if (!run) return run.problems();
    const auto forecast = predict(*run);
    if (!forecast) return forecast.problems();
    feed(name);
    for (const PartRow& row : kParts) {
      const std::string number = formatted(" %.6e", forecast->parts[row.part].value());
      feed(number);
    }
    const std::string number =
        formatted(" %.6e %.6e %.6e %zu", forecast->memory.total().value(), forecast->mfu,
                  forecast->energy.value(), forecast->calls.size());
    feed(number);
  }
  return digest_text(digest);
}

}  // namespace headway
