// Models for tests of what is counted.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "model/reading/load.hpp"

namespace headway::testing {

inline Model built_in(const std::string& name) {
  Result<Model> model = load_model(name);
  EXPECT_TRUE(model.ok()) << name << ": " << (model.ok() ? "" : model.problems().front().message);
  return model.ok() ? *model : Model{};
}

inline Model random_model() {
  Model model;
  Layer layer;
  Attention attention;
  attention.heads = *rc::gen::inRange<std::int64_t>(1, 64);
  attention.kv_heads = attention.heads;
  attention.head_dim = attention.value_dim = *rc::gen::inRange<std::int64_t>(1, 256);
  attention.qkv_bias = *rc::gen::arbitrary<bool>();
  layer.attention = attention;
  FeedForward part;
  part.width = *rc::gen::inRange<std::int64_t>(1, 60'000);
  part.gated = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) {
    Experts experts;
    experts.count = *rc::gen::inRange<std::int64_t>(1, 256);
    experts.active = *rc::gen::inRange<std::int64_t>(1, experts.count + 1);
    experts.each = part;
    layer.experts = experts;
  } else {
    layer.feed_forward = part;
  }
  model.hidden = *rc::gen::inRange<std::int64_t>(1, 30'000);
  model.vocabulary = *rc::gen::inRange<std::int64_t>(0, 300'000);
  model.tied_embeddings = *rc::gen::arbitrary<bool>();
  model.kinds = {layer};
  model.pattern.assign(*rc::gen::inRange<std::size_t>(1, 200), 0);
  return model;
}

}  // namespace headway::testing
