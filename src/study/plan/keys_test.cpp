#include "study/plan/keys.hpp"

#include <set>

#include "study/plan/case_for_test.hpp"

namespace headway {
namespace {

using testing::plan_case;
using testing::PlanCase;
using testing::random_plan_case;

// A key whose places are few, so that others often take them.
struct Digit {
  int value = 0;
  friend bool operator==(const Digit&, const Digit&) = default;
  friend std::uint64_t hash(const Digit& digit) { return mixed(0, digit.value % 3); }
};

RC_GTEST_PROP(KeptBy, a_key_gives_what_is_made_of_it_whoever_took_its_place, ()) {
  KeptBy<Digit, int> kept(*rc::gen::element<std::size_t>(64, 256));
  int last = -1;
  for (const int value : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 9))) {
    bool made = false;
    const int square = kept.of({value}, [&](const Digit& key, int& out) {
      made = true;
      out = key.value * key.value;
    });
    RC_ASSERT(square == value * value);
    RC_ASSERT(!(made && value == last));
    last = value;
  }
}

TEST(KeptBy, keeps_what_has_a_place_of_its_own_while_it_grows) {
  KeptBy<Digit, int> kept(1 << 10);
  int made = 0;
  const auto ask = [&](int value) {
    kept.of({value}, [&](const Digit& key, int& out) {
      ++made;
      out = key.value;
    });
  };
  for (int value = 0; value < 3; ++value) ask(value);
  for (int value = 0; value < 3; ++value) ask(value);
  EXPECT_EQ(made, 3);
}

// What is made of a key is made of the layout that it gives: that has the same key, so that nothing
// which the key leaves out is put back by making it.
RC_GTEST_PROP(PlanKeys, the_layout_that_a_key_gives_has_this_key, ()) {
  const PlanCase c = random_plan_case();
  for (int i = 0; i < 50; ++i) {
    const Layout layout = c.space->layout_at(*rc::gen::inRange<std::uint64_t>(0, c.space->size()));
    const PriceKey key(c.run.job, layout);
    RC_ASSERT(PriceKey(c.run.job, key.layout()) == key);
    RC_ASSERT(hash(PriceKey(c.run.job, key.layout())) == hash(key));
  }
}

// Hashes of unequal keys differ, as far as 64 bits can: none of some ten thousand are the same.
TEST(PlanKeys, hang_their_hash_on_every_field) {
  const PlanCase c =
      plan_case("mixtral-8x7b", "dgx-h100", 16, framework_from("megatron").value(), 64);
  std::set<std::uint64_t> hashes;
  std::vector<PriceKey> keys;
  for (std::uint64_t index = 0; index < c.space->size(); index += 7) {
    const PriceKey key(c.run.job, c.space->layout_at(index));
    if (hashes.insert(hash(key)).second) keys.push_back(key);
    // Whoever has this hash already is the same key.
    const auto same = std::find_if(keys.begin(), keys.end(),
                                   [&](const PriceKey& other) { return hash(other) == hash(key); });
    ASSERT_TRUE(*same == key);
    if (keys.size() > 2000) break;
  }
  EXPECT_GT(keys.size(), 500U);
}

}  // namespace
}  // namespace headway
