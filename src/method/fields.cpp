// The one table of what may be stated of a method.
#include <array>

#include "method/methods.hpp"

namespace headway {
namespace {

using Form = MethodField::Form;
constexpr double kMostSteps = 1e6, kMostReplicas = 1e9;

template <auto member>
constexpr MethodField field(std::string_view name, std::string_view what, double least, double most,
                            Form form = Form::whole, std::string_view value = "N") {
  return {name,
          value,
          what,
          form,
          least,
          most,
          [](const Method& m) { return static_cast<double>(m.*member); },
          [](Method& m, double number) {
            m.*member = static_cast<std::remove_reference_t<decltype(m.*member)>>(number);
          }};
}

constexpr std::array<MethodField, 21> kFields = {{
    field<&Method::every>("every", "steps from one meeting of replicas to the next", 1, kMostSteps),
    field<&Method::replicas>(
        "replicas", "parts of the data-parallel ranks with weights of their own; else each rank", 2,
        kMostReplicas),
    field<&Method::fragments>("fragments", "of the weights, exchanged in turn between two meetings",
                              1, 10'000),
    field<&Method::delay>("delay", "steps beside which an exchange may run; 0: all wait for it", 0,
                          kMostSteps),
    field<&Method::neighbours>("neighbours", "replicas that each one sends to", 1, 64),
    {"compressor", "NAME", "how what is exchanged is compressed", Form::compressor, 0,
     kCompressors.size() - 1, [](const Method& m) { return static_cast<double>(m.compression.by); },
     [](Method& m, double number) {
       m.compression.by = static_cast<Compressor>(static_cast<std::uint8_t>(number));
     }},
    {"share", "X", "of the elements, those that a sparse exchange sends", Form::number, 1e-6, 1,
     [](const Method& m) { return m.compression.share; },
     [](Method& m, double number) { m.compression.share = number; }},
    {"rank", "N", "columns of the factors that stand for a matrix", Form::whole, 1, 65'536,
     [](const Method& m) { return static_cast<double>(m.compression.rank); },
     [](Method& m, double number) { m.compression.rank = static_cast<std::int64_t>(number); }},
    field<&Method::kept>("kept", "bytes a parameter that replicas keep besides", 0, 64,
                         Form::number, "BYTES"),
    field<&Method::submodels>("submodels", "narrow models, each with a part of the neurons", 2,
                              1024),
    field<&Method::population>("population", "perturbed models that a step compares; else replicas",
                               1, kMostReplicas),
    {"bandwidth", "RATE", "of the link of a replica to the others, of all its ranks together",
     Form::bandwidth, 1, 1e18, [](const Method& m) { return m.bandwidth.value(); },
     [](Method& m, double number) { m.bandwidth = BytesPerSecond(number); }},
    {"latency", "TIME", "of that link, one way", Form::latency, 1e-9, 10,
     [](const Method& m) { return m.latency.value(); },
     [](Method& m, double number) { m.latency = Seconds(number); }},
    {"losses", "N", "whose losses train a stage: 1 its own, 2 the next one's, too", Form::whole, 1,
     2, [](const Method& m) { return static_cast<double>(m.losses); },
     [](Method& m, double number) {
       m.losses = static_cast<Losses>(static_cast<std::uint8_t>(number));
     }},
    field<&Method::blocks>("blocks", "of layers in each stage, each with a loss of its own", 1,
                           1024),
    field<&Method::parts>("parts", "of the layers, trained one after another", 2, 1024),
    field<&Method::epochs>("epochs", "passes over the data, what a cut says being made once", 1,
                           kMostSteps),
    field<&Method::selected>("selected",
                             "of other ranks' keys and values, those that attention selects", 1e-6,
                             1, Form::number, "X"),
    {"density", "X", "of the layers' weights, those that are not zero", Form::number, 1e-4, 1,
     [](const Method& m) { return m.sparsity.density; },
     [](Method& m, double number) { m.sparsity.density = number; }},
    {"zeros", "FORM", "how zeros lie: none (anywhere), 2:4, blocks", Form::zeros, 0,
     kSparsityForms.size() - 1,
     [](const Method& m) { return static_cast<double>(m.sparsity.form); },
     [](Method& m, double number) {
       m.sparsity.form = static_cast<SparsityForm>(static_cast<std::uint8_t>(number));
     }},
    {"masks-sent", "N", "1: which weights are not zero is sent with gradients; 0: all know it",
     Form::whole, 0, 1, [](const Method& m) { return m.sparsity.masks_sent ? 1.0 : 0.0; },
     [](Method& m, double number) { m.sparsity.masks_sent = number > 0; }},
}};

}  // namespace

std::span<const MethodField> method_fields() {
  return kFields;
}

const MethodField* method_field(std::string_view name) {
  for (const MethodField& field : kFields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

}  // namespace headway
