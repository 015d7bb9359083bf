#include "report/json/writer.hpp"
#include "report/laws/slim.hpp"

namespace headway {
namespace {

void write_cost(JsonWriter& json, std::string_view name, const SlimCost& cost) {
  json.key(name);
  json.begin_object();
  json.member("flop", cost.flops.value());
  json.member("bytes", cost.bytes.value());
  json.member("time_s", cost.time.value());
  json.member("energy_j", cost.energy.value());
  json.end_object();
}

void write_vector(JsonWriter& json, std::string_view name, const Vector& of) {
  json.key(name);
  json.begin_array();
  for (const double value : of) json.value(value);
  json.end_array();
}

}  // namespace

std::string slim_json(const SlimAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  json.member("model", answer.run.model.name);
  json.member("cluster", answer.run.cluster.name);
  json.member("joules_per_flop", answer.machine.joules_a_flop);
  json.member("joules_per_byte", answer.machine.joules_a_byte);
  json.member("flop_per_s", answer.machine.rate.value());
  json.key("slimmed");
  json.begin_array();
  for (const SlimRow& row : answer.rows) {
    json.begin_object();
    json.member("name", row.slimming.name);
    json.member("samples", row.slimming.samples);
    json.member("tokens", row.slimming.tokens);
    json.member("width", row.slimming.width);
    json.member("depth", row.slimming.depth);
    json.member("first_tokens", row.slimming.first_tokens);
    json.member("growing", row.slimming.growing);
    write_cost(json, "training", row.training);
    write_cost(json, "inference", row.inference);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string subnetworks_json(const SubnetworkAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  write_vector(json, "solution", answer.solution);
  write_vector(json, "limit", answer.limit);
  json.member("bias", answer.bias);
  write_vector(json, "descent_eigenvalues", answer.descent);
  json.member("descends", answer.descends);
  json.member("preconditioned_curvature", answer.most_curvature);
  json.end_object();
  return json.take();
}

}  // namespace headway
