# infermeter_layer(NAME [RUNS_SELDOM] [SIMULATED] [TESTS_ELSEWHERE] [DEPENDS layers…] [LIBRARIES external targets…])
# A folder of the library: every .cpp in it and below it, every *_test.cpp in its test program. What it may include
# is what DEPENDS names (and text and diagnostics); tests/layering holds the table against the code.
#
# The warnings that everything is compiled with, back ends included. g++ 12 warns of overlapping copies inside std::string's
# own operator+ when it optimises (GCC bug 105651, mended in 13), of the unused half of a std::variant (80635), and of vectors
# freed on a path that cannot be (its copy in a span is taken for them). Files that are compiled together shadow each
# other's names, and what is theirs alone is no part of another's interface.
add_library(infermeter_warnings INTERFACE)
# clang compiles what has the address sanitizer in two thirds of g++'s time; its warnings are those of clang-tidy.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(infermeter_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow=local $<$<BOOL:${INFERMETER_WERROR}>:-Werror> -Wno-restrict
    -Wno-maybe-uninitialized -Wno-free-nonheap-object $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
else()
  target_compile_options(infermeter_warnings INTERFACE -w)
endif()

# The compiler's own garbage is collected later: a tenth less time for up to half a gigabyte more memory.
target_compile_options(infermeter_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

add_library(infermeter_options INTERFACE)
target_link_libraries(infermeter_options INTERFACE infermeter_warnings)
target_include_directories(infermeter_options INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/backends> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>)
# A product and a sum are rounded twice on every processor: what one computed of a stored run, another computes again to the last bit.
target_compile_options(infermeter_options INTERFACE -ffp-contract=off)
# The code of unit tests itself has no checks of undefined behaviour: with them it compiles half as long again, and the address sanitizer
# sees most of what they see there. What is tested has them all.
if(INFERMETER_SANITIZE)
  target_compile_options(infermeter_options INTERFACE -fsanitize=${INFERMETER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<BOOL:$<TARGET_PROPERTY:IS_UNIT_TEST>>:-fno-sanitize=undefined>
    $<$<BOOL:$<TARGET_PROPERTY:RUNS_SELDOM>>:-fno-sanitize=null,alignment>)
  target_link_options(infermeter_options INTERFACE -fsanitize=${INFERMETER_SANITIZE})
  # A program with a sanitizer has the whole library in it: GNU's linker takes six times as long as clang's.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=lld INFERMETER_HAS_LLD)
    if(INFERMETER_HAS_LLD)
      target_link_options(infermeter_options INTERFACE -fuse-ld=lld)
    endif()
  endif()
endif()

# What runs once per command, not once per inference, sample or byte: -Og compiles in half of the time. Nor does it read bytes
# as values of a type that must be aligned, but for mapped pages, and the address sanitizer finds a null pointer as well: without these two
# checks it compiles in four fifths of the time with sanitizers.
function(infermeter_runs_seldom target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  set_target_properties(${target} PROPERTIES RUNS_SELDOM TRUE)
endfunction()

# The only file that knows where the checkout and this build lie: all others compile to the same bytes in every clone.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_paths.cpp CONTENT [[
#include "infermeter/diagnostics/test_paths.hpp"

namespace infermeter::test {

const char* const source_dir = "@CMAKE_SOURCE_DIR@";
const char* const worker_program = "@CMAKE_BINARY_DIR@/libexec/infermeter/infermeter-worker";
const char* const fake_folder = "@CMAKE_BINARY_DIR@/lib/infermeter/backends";
const char* const replays = "@CMAKE_SOURCE_DIR@/simulation/replays";

}  // namespace infermeter::test
]] @ONLY)
add_library(infermeter_test_paths STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/test_paths.cpp)
target_link_libraries(infermeter_test_paths PRIVATE infermeter_options)

# Those of unit tests that simulate for long, in suites NAMESimulation: the release runs them, without sanitizers.
add_custom_target(simulations)

function(infermeter_layer name)
  cmake_parse_arguments(ARG "RUNS_SELDOM;SIMULATED;TESTS_ELSEWHERE" "" "DEPENDS;LIBRARIES" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_main)\\.cpp$")
  add_library(infermeter_${name} STATIC ${sources})
  target_link_libraries(infermeter_${name} PRIVATE infermeter_options)
  if(ARG_RUNS_SELDOM)
    infermeter_runs_seldom(infermeter_${name})
  endif()
  set(layers ${ARG_DEPENDS})
  # What every layer may include.
  foreach(layer text diagnostics)
    if(NOT name MATCHES "^(text|diagnostics)$")
      list(APPEND layers ${layer})
    endif()
  endforeach()
  foreach(layer ${layers})
    target_link_libraries(infermeter_${name} PUBLIC infermeter_${layer})
  endforeach()
  target_link_libraries(infermeter_${name} PRIVATE ${ARG_LIBRARIES})
  if(INFERMETER_TESTS AND tests AND NOT ARG_TESTS_ELSEWHERE)
    add_executable(infermeter_${name}_test ${tests})
    target_link_libraries(infermeter_${name}_test PRIVATE infermeter_options infermeter_${name} infermeter_test_paths ${ARG_LIBRARIES}
      GTest::gtest GTest::gmock GTest::gtest_main rapidcheck)
    set_target_properties(infermeter_${name}_test PROPERTIES IS_UNIT_TEST TRUE)
    # An option would take the place of the variable GTEST_FILTER.
    set(filter)
    if(ARG_SIMULATED)
      set(filter --gtest_filter=-*Simulation.*)
    endif()
    add_test(NAME ${name} COMMAND infermeter_${name}_test --gtest_brief=1 ${filter})
    set_tests_properties(${name} PROPERTIES LABELS unit)
    # Of long simulations sanitizers see in the first runs what they see at all, and shorter ones are among the other tests.
    if(ARG_SIMULATED)
      add_test(NAME ${name}_simulation COMMAND infermeter_${name}_test --gtest_brief=1 --gtest_filter=*Simulation.*)
      add_dependencies(simulations infermeter_${name}_test)
      # Minutes with sanitizers and without optimisation.
      if(INFERMETER_SANITIZE)
        target_compile_options(infermeter_${name} PRIVATE -O1)
        target_compile_options(infermeter_${name}_test PRIVATE -O1)
      endif()
    endif()
  endif()
endfunction()
