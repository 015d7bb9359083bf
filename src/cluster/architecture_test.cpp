#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/document/document.hpp"
#include "cluster/load.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

TEST(Architecture, EachWithTraitsIsThatOfABuiltInAccelerator) {
  std::set<std::string> used = {"others"};  // the title of all without one
  for (const std::string& name : accelerator_names()) {
    used.insert(load_accelerator(name)->architecture);
  }
  const Document file = parse_toml(*embedded_file("architectures.toml"), "x").value();
  for (const auto& [name, traits] : *file.root.table()) EXPECT_TRUE(used.contains(name)) << name;
}

TEST(Architecture, AcceleratorsShareItsTraits) {
  EXPECT_EQ(load_accelerator("v100-32gb")->traits.flash_attention, 0);
  EXPECT_EQ(load_accelerator("t4")->traits.flash_attention, 1);
  EXPECT_EQ(load_accelerator("a100-80gb")->traits.flash_attention, 2);
  EXPECT_EQ(load_accelerator("h100-sxm")->traits.flash_attention, 3);
  EXPECT_EQ(load_accelerator("b200")->traits.flash_attention, 3);
  EXPECT_EQ(load_accelerator("mi300x")->traits.flash_attention, 2);  // has no row
  EXPECT_TRUE(load_accelerator("a100-80gb")->traits.before_flash_attention);
  EXPECT_FALSE(load_accelerator("h100-sxm")->traits.before_flash_attention);
}

TEST(Architecture, ChartsShowThoseWithATitleAndLastAllOthers) {
  const auto& titles = architecture_titles();
  ASSERT_GE(titles.size(), 2U);
  EXPECT_EQ(titles.back(), architecture("others").title);
  for (const char* name : {"h100-sxm", "a100-80gb", "b200"}) {
    const std::string& title = load_accelerator(name)->traits.title;
    EXPECT_EQ(std::count(titles.begin(), titles.end(), title), 1) << name;
    EXPECT_NE(title, titles.back());
  }
}

}  // namespace
}  // namespace headway
