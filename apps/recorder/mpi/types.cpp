// Types of MPI by the numbers of the file.
#include "shape.hpp"

namespace headway::recorder {
namespace {

// Of the elements of recordings: int8, uint8, int16, int32, uint32, int64, uint64, fp16, bf16,
// fp32, fp64, fp8_e4m3, fp8_e5m2, bool.
struct Row {
  MPI_Datatype type;
  TypeNumber number;
};

TypeNumber look_up(MPI_Datatype type) {
  constexpr TypeNumber int8{1, 1}, uint8{2, 1}, int16{3, 2}, int32{4, 4}, uint32{5, 4}, int64{6, 8},
      uint64{7, 8}, fp32{10, 4}, fp64{11, 8}, boolean{14, 1};
  static_assert(sizeof(long) == 8 && sizeof(int) == 4);
  const Row rows[] = {
      {MPI_FLOAT, fp32},          {MPI_DOUBLE, fp64},
      {MPI_BYTE, uint8},          {MPI_INT, int32},
      {MPI_CHAR, int8},           {MPI_LONG, int64},
      {MPI_UNSIGNED, uint32},     {MPI_UNSIGNED_LONG, uint64},
      {MPI_LONG_LONG, int64},     {MPI_SIGNED_CHAR, int8},
      {MPI_UNSIGNED_CHAR, uint8}, {MPI_SHORT, int16},
      {MPI_INT8_T, int8},         {MPI_UINT8_T, uint8},
      {MPI_INT16_T, int16},       {MPI_INT32_T, int32},
      {MPI_UINT32_T, uint32},     {MPI_INT64_T, int64},
      {MPI_UINT64_T, uint64},     {MPI_C_BOOL, boolean},
      {MPI_AINT, int64},          {MPI_COUNT, int64},
      {MPI_OFFSET, int64},        {MPI_UNSIGNED_LONG_LONG, uint64},
      {MPI_REAL, fp32},           {MPI_DOUBLE_PRECISION, fp64},
      {MPI_INTEGER, int32},       {MPI_REAL4, fp32},
      {MPI_REAL8, fp64},
  };
  for (const Row& row : rows) {
    if (row.type == type && type != MPI_DATATYPE_NULL) return row.number;
  }
  return {};
}

}  // namespace

TypeNumber number_of(MPI_Datatype type) {
  // Predefined types are never freed: the handle always stands for the same.
  struct Last {
    MPI_Datatype type;
    TypeNumber number;
  };
  static thread_local Last last{};
  if (last.number.number != 0 && last.type == type) return last.number;
  const TypeNumber number = look_up(type);
  if (number.number != 0) last = {type, number};
  return number;
}

}  // namespace headway::recorder
