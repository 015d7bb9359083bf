// In which format a config.json keeps a network's weights.
#include <algorithm>

#include "model/reading/config_fields.hpp"

namespace headway::reading {
namespace {

std::string integers(std::int64_t bits, bool inputs) {
  if (bits == 4) return "int4";
  if (bits == 8) return inputs ? "int8-full" : "int8";
  return {};
}

std::string floats(std::int64_t bits, bool blocks, bool inputs, bool experts) {
  if (bits == 8) return blocks ? "fp8-block" : "fp8";
  if (bits != 4) return {};
  if (!inputs) return "nvfp4";
  return experts ? "fp4-experts" : "fp4";
}

// Of its groups of layers the first stands for all; attention among what is ignored: experts alone.
std::string compressed(Fields& format, bool experts) {
  Fields groups = format.table("config_groups");
  const std::vector<std::string> names = groups.keys();
  if (names.empty()) return {};
  Fields group = groups.table(names.front());
  Fields weights = group.table("weights");
  const std::int64_t bits = weights.natural_or("num_bits", 0);
  const bool inputs = group.has("input_activations");
  const std::vector<std::string> ignored = format.texts_or_empty("ignore");
  const bool without_attention =
      std::any_of(ignored.begin(), ignored.end(),
                  [](const std::string& name) { return name.find("attn") != std::string::npos; });
  if (weights.text_or("type", "int") == "float") {
    return floats(bits, weights.text_or("strategy", "") == "block", inputs, experts);
  }
  if (bits == 4 && experts && without_attention) return "int4-experts";
  return integers(bits, inputs);
}

std::string by_method(Fields& format, bool experts) {
  const std::string method = format.text_or("quant_method", "");
  if (method.starts_with("awq") || method.starts_with("gptq")) {
    return integers(format.natural_or("bits", 4), false);
  }
  if (method == "fp8" || method == "fbgemm_fp8") {
    return floats(8, format.has("weight_block_size"), true, experts);
  }
  if (method == "mxfp4") return "mxfp4";
  if (method == "compressed-tensors") return compressed(format, experts);
  if (method == "bitsandbytes") {
    if (format.flag_or("load_in_4bit", false)) return "int4";
    return format.flag_or("load_in_8bit", false) ? "int8" : "";
  }
  if (method == "modelopt") {
    const std::string algorithm = format.text_or("quant_algo", "");
    if (algorithm == "FP8") return "fp8";
    if (algorithm == "NVFP4") return floats(4, true, true, experts);
  }
  return {};
}

}  // namespace

std::string weights_of(const Node& quantization_config, bool experts) {
  Problems problems;  // what cannot be read is no format that is known
  Fields format(quantization_config, "", "quantization_config", problems);
  std::string out = by_method(format, experts);
  return problems.empty() ? out : std::string();
}

}  // namespace headway::reading
