// Hugging Face config.json: finds the family by its architecture and hands over to its reader.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "model/config_fields.hpp"
#include "model/load.hpp"

namespace headway {
using namespace reading;  // of this folder alone
namespace {

struct Family {
  std::string_view architecture;
  std::string_view model_type;
  FamilyReader read;
};

constexpr Family kFamilies[] = {
    {"LlamaForCausalLM", "llama", read_llama},
    {"MistralForCausalLM", "mistral", read_mistral},
    {"MixtralForCausalLM", "mixtral", read_mixtral},
    {"Qwen2ForCausalLM", "qwen2", read_qwen2},
    {"Qwen3ForCausalLM", "qwen3", read_qwen3},
    {"Qwen2MoeForCausalLM", "qwen2_moe", read_qwen2_moe},
    {"Qwen3MoeForCausalLM", "qwen3_moe", read_qwen3_moe},
    {"GemmaForCausalLM", "gemma", read_gemma},
    {"Gemma2ForCausalLM", "gemma2", read_gemma2},
    {"Phi3ForCausalLM", "phi3", read_phi3},
    {"GPT2LMHeadModel", "gpt2", read_gpt2},
    {"GPTNeoXForCausalLM", "gpt_neox", read_gpt_neox},
    {"OPTForCausalLM", "opt", read_opt},
    {"BloomForCausalLM", "bloom", read_bloom},
    {"FalconForCausalLM", "falcon", read_falcon},
    {"RWForCausalLM", "RefinedWeb", read_falcon},  // Falcon's name before transformers had it
    {"MPTForCausalLM", "mpt", read_mpt},
    {"MptForCausalLM", "mpt", read_mpt},
    {"Starcoder2ForCausalLM", "starcoder2", read_starcoder2},
    {"NemotronForCausalLM", "nemotron", read_nemotron},
    {"DeepseekV2ForCausalLM", "deepseek_v2", read_deepseek_v2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", read_deepseek_v3},
    {"GptOssForCausalLM", "gpt_oss", read_gpt_oss},
    {"Llama4ForConditionalGeneration", "llama4", read_llama4},
    {"Llama4ForCausalLM", "llama4_text", read_llama4},
};

std::vector<std::string> known(std::string_view Family::*name) {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) {
    if (std::find(names.begin(), names.end(), family.*name) == names.end()) {
      names.emplace_back(family.*name);
    }
  }
  return names;
}

// The family by `architectures`; by `model_type` where that is absent. nullptr after a problem.
const Family* find_family(Fields& fields) {
  const std::vector<std::string> architectures = fields.texts_or_empty("architectures");
  for (const std::string& name : architectures) {
    for (const Family& family : kFamilies) {
      if (family.architecture == name) return &family;
    }
  }
  if (!architectures.empty()) {
    const std::string& name = architectures.front();
    fields.fail("architectures",
                "'" + printable(name) + "' is not a known architecture" +
                    suggestion(name, known(&Family::architecture)),
                Trouble::unknown);
    return nullptr;
  }
  const std::string type = fields.text_or("model_type", "");
  for (const Family& family : kFamilies) {
    if (family.model_type == type) return &family;
  }
  if (type.empty()) {
    fields.fail("architectures",
                "is missing; a config.json of Hugging Face names its architecture"
                " there, as \"LlamaForCausalLM\"",
                Trouble::missing);
  } else {
    fields.fail("model_type",
                "'" + printable(type) + "' is not a known model type" +
                    suggestion(type, known(&Family::model_type)),
                Trouble::unknown);
  }
  return nullptr;
}

}  // namespace

Result<Model> model_from_config(const Document& config, std::string name) {
  Problems problems;
  Fields fields(config, problems);
  Model model;
  model.name = std::move(name);
  model.source = fields.text_or("_source", config.file);
  const Family* family = find_family(fields);
  if (family == nullptr) return problems;
  family->read(fields, model);
  if (!problems.empty()) return problems;
  if (approximate_parameters(model) > kMostParameters) return implausible(fields);
  return model;
}

}  // namespace headway
