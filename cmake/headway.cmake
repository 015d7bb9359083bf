# Flags shared by every target of Headway.
add_library(headway_flags INTERFACE)
# -Wrestrict: g++ 12 reports std::string operator+ falsely (GCC bug 105651).
target_compile_options(headway_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wno-sign-conversion -Wno-restrict -Werror)
target_include_directories(headway_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(HEADWAY_LIBFUZZER)
  target_compile_options(headway_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# The sanitizers watch the libraries, the programs and the fuzz targets. The tests that drive them are
# compiled without: instrumented, they take three times as long to compile, half of all compilation.
add_library(headway_sanitized INTERFACE)
if(HEADWAY_SANITIZE)
  # -Wmaybe-uninitialized: g++ 12 reports the library's own <regex> falsely under the sanitizers.
  target_compile_options(headway_sanitized INTERFACE -Wno-maybe-uninitialized
                                                     -fsanitize=address,undefined
                                                     -fno-sanitize-recover=all
                                                     -fno-omit-frame-pointer)
  target_link_options(headway_flags INTERFACE -fsanitize=address,undefined)
endif()

# headway_module(NAME USES dependency... PRIVATE library...)
#
# One folder of src/ as a static library headway_NAME. Files named *_test.cpp become the test
# program NAME_test, files named *_bench.cpp the benchmark NAME_bench; all others the library.
function(headway_module name)
  cmake_parse_arguments(ARG "" "" "USES;PRIVATE;TEST_USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")

  if(sources)
    add_library(headway_${name} STATIC ${sources})
    target_link_libraries(headway_${name} PUBLIC headway_flags ${ARG_USES}
                                          PRIVATE headway_sanitized ${ARG_PRIVATE})
  else()  # a folder of headers only
    add_library(headway_${name} INTERFACE)
    target_link_libraries(headway_${name} INTERFACE headway_flags ${ARG_USES})
  endif()

  if(tests)
    headway_test(${name}_test SOURCES ${tests} USES headway_${name} ${ARG_TEST_USES})
  endif()
  if(benches AND HEADWAY_BENCHMARKS)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE headway_${name} ${ARG_TEST_USES}
                                                benchmark::benchmark_main)
  endif()
endfunction()

# What every test includes, compiled once: half of the time of compiling a test goes into reading it.
# Tests are compiled with -O1 in every preset: the library is what has to be fast.
function(headway_test_headers)
  if(TARGET headway_test_headers)
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/test_headers.cpp)
  file(WRITE ${source} "")
  add_library(headway_test_headers OBJECT ${source})
  target_link_libraries(headway_test_headers PRIVATE headway_flags rapidcheck GTest::gtest_main)
  target_compile_options(headway_test_headers PRIVATE -O1)
  target_precompile_headers(headway_test_headers PRIVATE <algorithm> <cmath> <map> <optional>
                                                         <string> <vector> <gtest/gtest.h>
                                                         <rapidcheck.h>)
endfunction()

# headway_test(NAME SOURCES file... USES library...): a GoogleTest program whose cases ctest lists.
function(headway_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  headway_test_headers()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_USES} rapidcheck GTest::gtest_main)
  # g++ 12 warns falsely of std::string where its header is precompiled (GCC bug 105329).
  target_compile_options(${name} PRIVATE -O1 -Wno-array-bounds -Wno-stringop-overflow
                                         -Wno-stringop-overread)
  target_precompile_headers(${name} REUSE_FROM headway_test_headers)
  target_compile_definitions(${name} PRIVATE HEADWAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             HEADWAY_BINARY_DIR="${PROJECT_BINARY_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
endfunction()

# headway_fuzz(NAME USES library... SEEDS glob... [ITERATIONS n]): the fuzz target of NAME_fuzz.cpp,
# which defines LLVMFuzzerTestOneInput. As a test it runs every seed and n mutations of them, always
# the same ones (tests/fuzz/driver.cpp). With HEADWAY_LIBFUZZER (clang) it is a libFuzzer program to
# be run by hand: NAME_fuzz FOLDER_OF_SEEDS.
function(headway_fuzz name)
  cmake_parse_arguments(ARG "" "ITERATIONS" "USES;SEEDS" ${ARGN})
  if(NOT ARG_ITERATIONS)
    set(ARG_ITERATIONS 20000)
  endif()
  add_executable(${name}_fuzz ${name}_fuzz.cpp)
  target_link_libraries(${name}_fuzz PRIVATE headway_sanitized ${ARG_USES})
  if(HEADWAY_LIBFUZZER)
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
    return()
  endif()
  target_sources(${name}_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/driver.cpp)
  add_test(NAME fuzz.${name} COMMAND ${name}_fuzz --iterations ${ARG_ITERATIONS} ${ARG_SEEDS})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 120)
endfunction()
