# Flags shared by every target of Headway.
add_library(headway_flags INTERFACE)
# -Wrestrict: g++ 12 reports std::string operator+ falsely (GCC bug 105651). -Wshadow=local: a
# constructor's parameter may have the name of the member that it fills.
target_compile_options(headway_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow=local -Wconversion
                                               -Wno-sign-conversion -Wno-restrict -Werror)
# In a batch of sources what is in an unnamed namespace seems to come from a header.
if(HEADWAY_UNITY)
  target_compile_options(headway_flags INTERFACE -Wno-subobject-linkage)
endif()
# clang does not know g++'s warnings that are off here, and finds std::stable_sort of g++'s library
# to use what is deprecated.
target_compile_options(headway_flags INTERFACE
  "$<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-warning-option;-Wno-deprecated-declarations>")
target_include_directories(headway_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(HEADWAY_ENGINE_ALONE)  # by whatever compiler the package is built
  target_compile_options(headway_flags INTERFACE -Wno-error)
endif()
if(HEADWAY_LIBFUZZER)
  target_compile_options(headway_flags INTERFACE -O1 -g1 -UNDEBUG
                                                 -fsanitize=fuzzer-no-link,address)
  target_link_options(headway_flags INTERFACE -fsanitize=address)
endif()
if(HEADWAY_THREADS)
  target_compile_options(headway_flags INTERFACE -O1 -g1 -fsanitize=thread
                                                 -Wno-maybe-uninitialized)  # false, as below
  target_link_options(headway_flags INTERFACE -fsanitize=thread)
endif()

# The sanitizers watch twins of the libraries, NAME_sanitized, which the same tests are linked with a
# second time: the tests themselves are compiled once, for that is a third of all compilation.
# null, alignment, vptr, object-size: what they find crashes under the address sanitizer too, and
# their checks are most of the code to compile.
add_library(headway_sanitizers INTERFACE)
target_compile_options(headway_sanitizers INTERFACE
  -O1 -g1 -UNDEBUG -fsanitize=address,undefined -fno-sanitize=null,alignment,vptr,object-size
  -fno-sanitize-recover=all -fno-omit-frame-pointer
  -Wno-maybe-uninitialized)  # g++ 12 reports the library's own <regex> falsely under the sanitizers
target_link_options(headway_sanitizers INTERFACE -fsanitize=address,undefined)

# headway_twins(OUT NAME...): each library's sanitized twin where it has one, else itself.
function(headway_twins out)
  set(twins)
  foreach(library ${ARGN})
    if(TARGET ${library}_sanitized)
      list(APPEND twins ${library}_sanitized)
    else()
      list(APPEND twins ${library})
    endif()
  endforeach()
  set(${out} ${twins} PARENT_SCOPE)
endfunction()

# headway_program(NAME SOURCES file... USES library...): a program, and with HEADWAY_SANITIZE its
# twin NAME_sanitized of the same objects and the sanitized libraries. Options for compiling go to
# NAME_objects.
function(headway_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_library(${name}_objects OBJECT ${ARG_SOURCES})
  target_link_libraries(${name}_objects PRIVATE ${ARG_USES})
  add_executable(${name} $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name} PRIVATE ${ARG_USES})
  if(HEADWAY_SANITIZE)
    headway_twins(uses ${ARG_USES})
    add_executable(${name}_sanitized $<TARGET_OBJECTS:${name}_objects>)
    target_link_libraries(${name}_sanitized PRIVATE ${uses} headway_sanitizers)
  endif()
endfunction()

# The standard library's headers that most sources include, compiled once for all of them.
# headway_standard_headers(TARGET library...): the libraries give the compile options.
function(headway_standard_headers headers)
  set(source ${PROJECT_BINARY_DIR}/${headers}.cpp)
  file(WRITE ${source} "")
  add_library(${headers} OBJECT ${source})
  target_link_libraries(${headers} PRIVATE headway_flags ${ARGN})
  target_precompile_headers(${headers} PRIVATE
    <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <numeric>
    <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <variant> <vector>)
endfunction()
headway_standard_headers(headway_headers)
# headway_module(... QUICK_TO_COMPILE): -O1, for what waits for files and people.
add_library(headway_less_optimised INTERFACE)
# g++ 12 reports std::variant falsely there. For WebAssembly all is compiled to be small, and this to be
# the smallest.
if(HEADWAY_WASM)
  target_compile_options(headway_less_optimised INTERFACE -Oz)
else()
  target_compile_options(headway_less_optimised INTERFACE -O1 -Wno-maybe-uninitialized)
endif()
headway_standard_headers(headway_headers_quick headway_less_optimised)
if(HEADWAY_SANITIZE)
  headway_standard_headers(headway_headers_sanitized headway_sanitizers)
endif()

# headway_library(NAME HEADERS headers SOURCES file... USES library... PRIVATE library...)
function(headway_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;USES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC headway_flags ${ARG_USES} PRIVATE ${ARG_PRIVATE})
  target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS})
  # g++ 12 warns falsely of std::string where its header is precompiled (GCC bug 105329).
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                         -Wno-stringop-overread)
endfunction()

# headway_unity(TARGET SOURCES file...): with HEADWAY_UNITY, up to eight sources of one folder are
# compiled as one. Who writes two functions of one name in a folder hears of it from .ci/run
# (scripts/build says how to mend it).
function(headway_unity target)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  if(NOT HEADWAY_UNITY)
    return()
  endif()
  foreach(source ${ARG_SOURCES})
    get_source_file_property(group ${source} UNITY_GROUP)
    if(group OR source MATCHES "_rows\\.cpp$")  # a table alone: tests/lists links another one
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED seen_${folder})
      set(seen_${folder} 0)
    endif()
    math(EXPR batch "${seen_${folder}} / 8")
    math(EXPR seen_${folder} "${seen_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# headway_module(NAME [QUICK_TO_COMPILE] USES dependency... PRIVATE library... TEST_USES dependency...
#                WITHOUT file...)
#
# One folder of src/, with the folders in it, as a static library headway_NAME. Files named
# *_test.cpp become the test program NAME_test, files named *_bench.cpp the benchmark NAME_bench;
# all others the library. TEST_USES: what only its tests are linked with. WITHOUT: sources that
# another configuration builds.
function(headway_module name)
  cmake_parse_arguments(ARG "QUICK_TO_COMPILE" "" "USES;PRIVATE;TEST_USES;WITHOUT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  foreach(file ${ARG_WITHOUT})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")

  if(sources)
    if(ARG_QUICK_TO_COMPILE)
      set(headers headway_headers_quick)
      set(how headway_less_optimised)
    else()
      set(headers headway_headers)
      set(how)
    endif()
    headway_library(headway_${name} HEADERS ${headers} SOURCES ${sources} USES ${ARG_USES}
                    PRIVATE ${ARG_PRIVATE} ${how})
    headway_unity(headway_${name} SOURCES ${sources})
    if(HEADWAY_SANITIZE)
      headway_twins(uses ${ARG_USES})
      headway_library(headway_${name}_sanitized HEADERS headway_headers_sanitized
                      SOURCES ${sources} USES ${uses} PRIVATE ${ARG_PRIVATE} headway_sanitizers)
      headway_unity(headway_${name}_sanitized SOURCES ${sources})
    endif()
  else()  # a folder of headers only
    add_library(headway_${name} INTERFACE)
    target_link_libraries(headway_${name} INTERFACE headway_flags ${ARG_USES})
  endif()

  if(tests AND NOT HEADWAY_ENGINE_ALONE)
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
  target_compile_options(headway_test_headers PRIVATE -O0)
  target_precompile_headers(headway_test_headers PRIVATE <algorithm> <cmath> <map> <optional>
                                                         <string> <vector> <gtest/gtest.h>
                                                         <rapidcheck.h>)
endfunction()

# base/source_dir_for_test.hpp: the one object of the tests that knows where the checkout lies.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/source_dir.cpp CONTENT
     "#include \"base/source_dir_for_test.hpp\"
const std::string& headway::source_dir() {
  static const std::string folder = R\"(@PROJECT_SOURCE_DIR@)\";
  return folder;
}
" @ONLY)
add_library(headway_source_dir STATIC ${PROJECT_BINARY_DIR}/source_dir.cpp)
target_link_libraries(headway_source_dir PRIVATE headway_flags)

# headway_test(NAME SOURCES file... USES library...): a GoogleTest program
# whose cases ctest lists; with HEADWAY_SANITIZE a second time, as sanitized.CASE.
function(headway_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  headway_test_headers()
  headway_program(${name} SOURCES ${ARG_SOURCES} USES ${ARG_USES} rapidcheck GTest::gtest_main
                          headway_source_dir)
  headway_unity(${name}_objects SOURCES ${ARG_SOURCES})
  # -O0: optimising the templates of properties takes longer than it saves when they run.
  # g++ 12 warns falsely of std::string where its header is precompiled (GCC bug 105329).
  target_compile_options(${name}_objects PRIVATE -O0 -Wno-array-bounds -Wno-stringop-overflow
                                                 -Wno-stringop-overread)
  target_precompile_headers(${name}_objects REUSE_FROM headway_test_headers)
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
  if(HEADWAY_SANITIZE)
    gtest_discover_tests(${name}_sanitized DISCOVERY_MODE PRE_TEST TEST_PREFIX sanitized.
                         PROPERTIES ENVIRONMENT HEADWAY_TWIN=_sanitized)
  endif()
endfunction()

# headway_fuzz_targets(SOURCES file... USES library...): the program of all fuzz targets,
# fuzz_driver TARGET (tests/fuzz/driver.cpp), and its twin. With HEADWAY_LIBFUZZER (clang) instead
# fuzz_coverage --target=TARGET (tests/fuzz/libfuzzer.cpp).
function(headway_fuzz_targets)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  if(HEADWAY_LIBFUZZER)
    headway_library(headway_fuzz_targets HEADERS headway_headers_quick SOURCES ${ARG_SOURCES}
                    USES ${ARG_USES} PRIVATE headway_less_optimised)
    headway_unity(headway_fuzz_targets SOURCES ${ARG_SOURCES})
    add_executable(fuzz_coverage libfuzzer.cpp)
    target_link_libraries(fuzz_coverage PRIVATE headway_fuzz_targets -fsanitize=fuzzer)
    return()
  endif()
  headway_program(fuzz_driver SOURCES driver.cpp ${ARG_SOURCES} USES ${ARG_USES})
  headway_unity(fuzz_driver_objects SOURCES ${ARG_SOURCES})
  target_link_libraries(fuzz_driver_objects PRIVATE headway_less_optimised)
  target_precompile_headers(fuzz_driver_objects REUSE_FROM headway_headers_quick)
  # g++ 12 warns falsely of std::string where its header is precompiled (GCC bug 105329).
  target_compile_options(fuzz_driver_objects PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                                     -Wno-stringop-overread)
endfunction()

# headway_fuzz(NAME SEEDS glob... [ITERATIONS n]): the fuzz target NAME of tests/fuzz/targets.cpp. As
# a test it runs every seed and n mutations of them, always the same ones. With HEADWAY_SANITIZE also
# as full.fuzz.NAME, of HEADWAY_FUZZ_MUTATIONS, which .ci/full runs (ctest --build-config full). With
# HEADWAY_LIBFUZZER the test libfuzzer.NAME runs it for HEADWAY_FUZZ_EXECUTIONS. Seeds are those
# given, and the inputs of tests/fuzz/corpus/NAME, which libFuzzer found to reach code of their own
# (scripts/keep-corpus).
function(headway_fuzz name)
  cmake_parse_arguments(ARG "" "ITERATIONS" "SEEDS" ${ARGN})
  if(NOT ARG_ITERATIONS)
    set(ARG_ITERATIONS 20000)
  endif()
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  if(EXISTS ${corpus})
    list(APPEND ARG_SEEDS ${corpus})
  endif()
  if(HEADWAY_LIBFUZZER)
    # What it finds goes to the first folder; seeds and corpus stay as they are.
    set(found ${PROJECT_BINARY_DIR}/corpus/${name})
    file(MAKE_DIRECTORY ${found})
    string(JOIN "\n" seeds ${ARG_SEEDS})
    file(WRITE ${found}.seeds "${seeds}\n")
    add_test(NAME libfuzzer.${name} CONFIGURATIONS full
             COMMAND fuzz_coverage --target=${name} -runs=${HEADWAY_FUZZ_EXECUTIONS} -verbosity=0
                     -max_len=65536 -artifact_prefix=${PROJECT_BINARY_DIR}/${name}- ${found}
                     ${ARG_SEEDS})
    set_tests_properties(libfuzzer.${name} PROPERTIES TIMEOUT 1000000)  # some take hours
    return()
  endif()
  set(run ${name} --iterations ${ARG_ITERATIONS} ${ARG_SEEDS})
  add_test(NAME fuzz.${name} COMMAND fuzz_driver ${run})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 120)
  if(HEADWAY_SANITIZE)
    add_test(NAME sanitized.fuzz.${name} COMMAND fuzz_driver_sanitized ${run})
    set_tests_properties(sanitized.fuzz.${name} PROPERTIES TIMEOUT 120)
    add_test(NAME full.fuzz.${name} CONFIGURATIONS full
             COMMAND fuzz_driver_sanitized ${name} --iterations ${HEADWAY_FUZZ_MUTATIONS}
                     ${ARG_SEEDS})
    set_tests_properties(full.fuzz.${name} PROPERTIES TIMEOUT 1000000)  # some take hours
  endif()
endfunction()
