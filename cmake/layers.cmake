# infermeter_layer(NAME [DEPENDS layers…] [LIBRARIES external targets…])
# A folder of the library: every .cpp beside this call is in it, every *_test.cpp in its test program. What it may include
# is what DEPENDS names (and diagnostics); tests/layering holds the table against the code.
#
# The warnings that everything is compiled with, back ends included. g++ 12 warns of overlapping copies inside std::string's
# own operator+ when it optimises (GCC bug 105651, mended in 13), and of the unused half of a std::variant (80635).
add_library(infermeter_warnings INTERFACE)
target_compile_options(infermeter_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-restrict
  -Wno-maybe-uninitialized)

add_library(infermeter_options INTERFACE)
target_link_libraries(infermeter_options INTERFACE infermeter_warnings)
target_compile_options(infermeter_options INTERFACE $<$<CONFIG:Release>:-O2>)
target_include_directories(infermeter_options INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/backends> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>)
if(INFERMETER_SANITIZE)
  target_compile_options(infermeter_options INTERFACE -fsanitize=${INFERMETER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(infermeter_options INTERFACE -fsanitize=${INFERMETER_SANITIZE})
endif()

function(infermeter_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_main)\\.cpp$")
  add_library(infermeter_${name} STATIC ${sources})
  target_link_libraries(infermeter_${name} PRIVATE infermeter_options)
  set(layers ${ARG_DEPENDS})
  if(NOT name STREQUAL "diagnostics")
    list(APPEND layers diagnostics)
  endif()
  foreach(layer ${layers})
    target_link_libraries(infermeter_${name} PUBLIC infermeter_${layer})
  endforeach()
  target_link_libraries(infermeter_${name} PRIVATE ${ARG_LIBRARIES})
  if(INFERMETER_TESTS AND tests)
    add_executable(infermeter_${name}_test ${tests})
    target_link_libraries(infermeter_${name}_test PRIVATE infermeter_options infermeter_${name} ${ARG_LIBRARIES}
      GTest::gtest GTest::gmock GTest::gtest_main rapidcheck)
    target_compile_definitions(infermeter_${name}_test PRIVATE INFERMETER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND infermeter_${name}_test --gtest_brief=1)
  endif()
endfunction()
