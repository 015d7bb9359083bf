#include "base/random/digest.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

// The vectors of the authors' page of FNV (draft-eastlake-fnv, FNV-1a of 64 bits).
TEST(Digest, IsThatOfItsAuthors) {
  EXPECT_EQ(digest_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(digest_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(digest_of("foobar"), 0x85944171f73967e8U);
}

TEST(Digest, OfAWholeIsThatOfItsPartsOneBehindTheOther) {
  EXPECT_EQ(digest_of("bar", digest_of("foo")), digest_of("foobar"));
  EXPECT_EQ(digest_text("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace headway
