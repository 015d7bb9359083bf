#include "fit/corpus/measurements.hpp"

#include "base/document/document.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {

Result<MeasurementFile> read_measurements(const std::string& data, std::string_view name) {
  constexpr std::size_t kLargest = std::size_t{1} << 30;  // bytes
  const std::string file = "measurements/" + std::string(name);
  if (data.empty()) {
    const auto text = embedded_file(file);
    if (!text) return Problem{"data/" + file, "is missing from this build", Trouble::unreadable};
    return MeasurementFile{"data/" + file, std::string(*text)};
  }
  auto text = read_file(data + "/" + file, kLargest);
  if (!text) return text.problems();
  return MeasurementFile{data + "/" + file, std::move(text).value()};
}

}  // namespace headway
