#include "model/reading/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"

namespace headway::reading {
namespace {

Result<Families> read(const std::string& text) {
  const Result<Document> document = parse_toml(text, "families.toml");
  if (!document) return document.problems();
  return families_from(*document);
}

const Family* find(const Families& all, const std::string& name) {
  for (const Family& family : all.families) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

TEST(Families, OfTheBinaryAreReadAndEachNamesItsSource) {
  const Result<Families>& all = embedded_families();
  ASSERT_TRUE(all.ok()) << all.problems().front().message;
  for (const Family& family : all->families) {
    EXPECT_FALSE(family.source.empty()) << family.name;
    EXPECT_FALSE(family.stems.empty() && family.names.empty()) << family.name;
    EXPECT_FALSE(family.types.empty()) << family.name;
    for (const auto& [name, trait] : family.traits) {
      EXPECT_TRUE(trait.value || !trait.keys.empty()) << family.name << "." << name;
    }
  }
}

// What two families claim would be read as whichever stands first.
TEST(Families, ShareNoNameWithEachOtherNorWithWhatIsRefused) {
  const Families& all = *embedded_families();
  std::set<std::string> stems, types;
  const auto once = [](std::set<std::string>& seen, const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_TRUE(seen.insert(name).second) << name;
  };
  for (const Family& family : all.families) {
    once(stems, family.stems);
    once(types, family.types);
  }
  for (const Kind& kind : all.refused) {
    EXPECT_FALSE(kind.stems.empty() || kind.types.empty()) << kind.name;
    once(stems, kind.stems);
    once(types, kind.types);
  }
}

TEST(Families, StandOnThePageOfModels) {
  const auto page = read_file(source_dir() + "/docs/models/model.md");
  ASSERT_TRUE(page.ok());
  const std::size_t begin = page->find("Families, by their stems:");
  ASSERT_NE(begin, std::string::npos);
  std::string list = page->substr(begin, page->find("\n\n", begin) - begin);
  std::replace_if(
      list.begin(), list.end(), [](char c) { return c == '.' || c == '\n'; }, ' ');
  for (const Family& family : embedded_families()->families) {
    for (const std::string& stem : family.stems) {
      EXPECT_NE(list.find(" " + stem + " "), std::string::npos) << stem;
    }
  }
}

TEST(Families, AreTheirDifferencesOverWhatTheyAreLike) {
  const Result<Families> all = read(R"(
base = "llama"
[family.llama]
source = "s"
width = { read = "w" }
norms = 2
[[family.llama.variant]]
field = "post"
assumed = false
norms = 4
[family.child]
source = "s"
norms = 1
[family.grandchild]
like = "child"
source = "s"
width = { read = ["a", "b"], else = "2 norms" }
)");
  ASSERT_TRUE(all.ok()) << all.problems().front().message;
  const Family* family = find(*all, "grandchild");
  ASSERT_NE(family, nullptr);
  EXPECT_EQ(family->traits.at("width").keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(std::get<std::int64_t>(family->traits.at("norms").value->value), 1);
  ASSERT_EQ(family->variants.size(), 1u);
  EXPECT_EQ(family->variants[0].field, "post");
}

TEST(Families, ThatNameWhatIsNoTraitAreAProblem) {
  const std::string base = "base = \"llama\"\n[family.llama]\nsource = \"s\"\nwidth = 1\n";
  EXPECT_TRUE(read(base).ok());
  EXPECT_FALSE(read(base + "[family.child]\nsource = \"s\"\nwitdh = 2\n").ok());
  EXPECT_FALSE(read(base + "[family.child]\nwidth = 2\n").ok());  // without a source
  EXPECT_FALSE(read(base + "[family.child]\nsource = \"s\"\nlike = \"none\"\n").ok());
  EXPECT_FALSE(read(base + "[family.child]\nsource = \"s\"\nlike = \"child\"\n").ok());
  EXPECT_FALSE(read(base + "[family.child]\nsource = \"s\"\nwidth = { reed = \"w\" }\n").ok());
  EXPECT_FALSE(
      read(base + "[[family.llama.variant]]\nfield = \"f\"\nwidth = 2\n").ok());  // not assumed
  EXPECT_FALSE(read("").ok());
  EXPECT_FALSE(read("[family.llama]\nsource = \"s\"\n").ok());  // which is the base?
}

}  // namespace
}  // namespace headway::reading
