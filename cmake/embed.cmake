# Carries the files of data/ and the page in the library headway_data: one assembly file includes their
# bytes (.incbin), and a table beside it names them. The measurements weigh megabytes and are packed:
# embedded_file() unpacks them when they are asked for.
file(GLOB_RECURSE data_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/data
     ${PROJECT_SOURCE_DIR}/data/*.toml ${PROJECT_SOURCE_DIR}/data/*.json)
list(FILTER data_files EXCLUDE REGEX "^measurements/")
list(SORT data_files)
file(GLOB measurements CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/data
     ${PROJECT_SOURCE_DIR}/data/measurements/*)
list(SORT measurements)
if(HEADWAY_WASM)  # those that fits alone read, which are of the command line, are not carried
  list(FILTER measurements INCLUDE REGEX "/training\\.csv$")
endif()

if(HEADWAY_WASM)  # it runs on this machine
  set(pack ${PROJECT_BINARY_DIR}/headway_pack)
  add_custom_command(OUTPUT ${pack} DEPENDS ${PROJECT_SOURCE_DIR}/cmake/pack.cpp
                     COMMAND c++ -O1 ${PROJECT_SOURCE_DIR}/cmake/pack.cpp -o ${pack} -lz VERBATIM)
else()
  set(pack headway_pack)
  add_executable(headway_pack ${PROJECT_SOURCE_DIR}/cmake/pack.cpp)
  target_link_libraries(headway_pack PRIVATE headway_flags ZLIB::ZLIB)
endif()
set(packed_places)
foreach(name ${measurements})
  set(packed ${PROJECT_BINARY_DIR}/embedded/${name}.gz)
  add_custom_command(OUTPUT ${packed} DEPENDS ${PROJECT_SOURCE_DIR}/data/${name} ${pack}
                     COMMAND ${pack} ${PROJECT_SOURCE_DIR}/data/${name} ${packed} VERBATIM)
  list(APPEND packed_places ${packed})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/embedded/measurements)

# The page, packed, where scripts/build-web has built it; a binary without it says so at "/".
set(web_folder ${PROJECT_SOURCE_DIR}/build/web)
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS RELATIVE ${web_folder} ${web_folder}/*.gz)
if(HEADWAY_ENGINE_ALONE)  # it serves no page
  set(web_files)
endif()
list(SORT web_files)

# Names in the table, sorted, and where each file is.
list(TRANSFORM data_files PREPEND ${PROJECT_SOURCE_DIR}/data/ OUTPUT_VARIABLE data_places)
list(TRANSFORM web_files PREPEND ${web_folder}/ OUTPUT_VARIABLE web_places)
list(TRANSFORM web_files PREPEND web/)
set(names ${data_files} ${web_files} ${measurements})
set(places ${data_places} ${web_places} ${packed_places})

if(HEADWAY_WASM)  # each file is a section that ends with a size
  set(assembly "")
else()
  set(assembly ".section .rodata\n")
endif()
set(table "")
set(symbols "")
set(index 0)
foreach(name place IN ZIP_LISTS names places)
  if(HEADWAY_WASM)
    string(APPEND assembly
      ".section .rodata.headway_data_${index},\"\",@\n"
      ".globl headway_data_${index}\n.globl headway_data_${index}_end\n"
      ".type headway_data_${index},@object\n.type headway_data_${index}_end,@object\n"
      "headway_data_${index}:\n.incbin \"${place}\"\n"
      "headway_data_${index}_end:\n.int8 0\n"
      ".size headway_data_${index}, headway_data_${index}_end-headway_data_${index}\n"
      ".size headway_data_${index}_end, 1\n")
  else()
    string(APPEND assembly
      ".global headway_data_${index}\n.global headway_data_${index}_end\n"
      "headway_data_${index}:\n.incbin \"${place}\"\n"
      "headway_data_${index}_end:\n.byte 0\n")
  endif()
  string(APPEND symbols "extern const char headway_data_${index}[], headway_data_${index}_end[];\n")
  set(packed false)
  if(name IN_LIST measurements)
    set(packed true)
  endif()
  string(APPEND table
    "    {\"${name}\", headway_data_${index}, headway_data_${index}_end, ${packed}},\n")
  math(EXPR index "${index} + 1")
endforeach()
if(NOT HEADWAY_WASM)
  string(APPEND assembly ".section .note.GNU-stack,\"\",@progbits\n")
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/data.S CONTENT "${assembly}" @ONLY)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/table.cpp CONTENT "#include <cstddef>
struct HeadwayEmbeddedFile { const char* path; const char* begin; const char* end; bool packed; };
extern \"C\" {
${symbols}extern const HeadwayEmbeddedFile headway_embedded_files[];
extern const std::size_t headway_embedded_file_count;
const HeadwayEmbeddedFile headway_embedded_files[] = {
${table}    {nullptr, nullptr, nullptr, false}};
const std::size_t headway_embedded_file_count = ${index};
}
" @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/embedded/data.S PROPERTIES OBJECT_DEPENDS
                            "${places}")
add_library(headway_data STATIC ${PROJECT_BINARY_DIR}/embedded/data.S
                                ${PROJECT_BINARY_DIR}/embedded/table.cpp)
