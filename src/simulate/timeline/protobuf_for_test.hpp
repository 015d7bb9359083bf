// Protocol buffers by their wire format, read by other means than they are written. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace headway::testing::protobuf {

/// A field's number, and what it holds.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};
inline std::uint64_t varint(std::string_view& in) {
  std::uint64_t out = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return out;
  }
}
inline std::vector<Field> fields_of(std::string_view in) {
  std::vector<Field> out;
  while (!in.empty()) {
    const std::uint64_t key = varint(in);
    Field field{key >> 3, 0, {}};
    if ((key & 7) == 0) {
      field.value = varint(in);
    } else if ((key & 7) == 1) {
      for (std::size_t i = 0; i < 8; ++i) {
        field.value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[i])) << (8 * i);
      }
      in.remove_prefix(8);
    } else {
      EXPECT_EQ(key & 7, 2U);
      const std::uint64_t size = varint(in);
      field.bytes = in.substr(0, size);
      in.remove_prefix(size);
    }
    out.push_back(field);
  }
  return out;
}
inline const Field* find(const std::vector<Field>& fields, std::uint64_t number) {
  for (const Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

}  // namespace headway::testing::protobuf
