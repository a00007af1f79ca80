# Flags that hold for every target, and the two functions every folder uses.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                    -Wcast-align -Wnull-dereference -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety)
else()
  # GCC 12 reports false positives of this kind inside the standard library at -O2.
  add_compile_options(-Wno-null-dereference)
endif()
if(MEMPULSE_SANITIZE)
  add_compile_options(-fsanitize=${MEMPULSE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MEMPULSE_SANITIZE})
else()
  add_compile_options(-fstack-protector-strong)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_program(MEMPULSE_MOLD mold)
if(MEMPULSE_MOLD)
  add_link_options(-fuse-ld=mold)  # a helper only: the system's linker does as well
endif()

# One precompiled header for all libraries and one for all tests: making it costs as much as a few sources do.
if(MEMPULSE_PRECOMPILE)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # else no compiler cache can know it again
  endif()
  add_library(mempulse_precompiled OBJECT ${CMAKE_SOURCE_DIR}/cmake/empty.cc)
  target_precompile_headers(mempulse_precompiled PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
endif()
if(MEMPULSE_PRECOMPILE OR MEMPULSE_PRECOMPILE_TESTS)
  add_library(mempulse_precompiled_tests OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/empty.cc)
  # As executables are compiled, or their sources do not take it.
  set_target_properties(mempulse_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(mempulse_precompiled_tests PRIVATE -fPIE)
  target_compile_definitions(mempulse_precompiled_tests PRIVATE GTEST_HAS_PTHREAD=1)
  target_precompile_headers(mempulse_precompiled_tests PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled_tests.h)
endif()

# mempulse_library(NAME SOURCES a.cc b.cc DEPS other::lib): one folder, one static library.
function(mempulse_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(mempulse_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(mempulse_${name} PUBLIC ${ARG_DEPS})
  if(MEMPULSE_PRECOMPILE)
    target_precompile_headers(mempulse_${name} REUSE_FROM mempulse_precompiled)
  endif()
endfunction()

# mempulse_unit_tests(NAME DEPS lib): every *_test.cc beside the calling CMakeLists.txt in one binary NAME_test, run by
# ctest as unit.NAME. LABEL (default unit), TIMEOUT in seconds (default 240) and SERIAL make other kinds of it.
function(mempulse_unit_tests name)
  cmake_parse_arguments(ARG "SERIAL" "LABEL;TIMEOUT" "DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 240)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  if(NOT sources)
    message(WARNING "${CMAKE_CURRENT_SOURCE_DIR} has no *_test.cc yet")
    return()
  endif()
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE MEMPULSE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                  MEMPULSE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(MEMPULSE_PRECOMPILE OR MEMPULSE_PRECOMPILE_TESTS)
    target_precompile_headers(${name}_test REUSE_FROM mempulse_precompiled_tests)
  endif()
  if(ARG_LABEL STREQUAL unit)
    add_dependencies(unit_tests ${name}_test)
  endif()
  set(test ${ARG_LABEL}.${name})
  add_test(NAME ${test} COMMAND ${name}_test)
  # ./test reads the cases and the reasons of the skipped ones from these files.
  set_tests_properties(${test} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABEL}
                                          ENVIRONMENT GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/gtest/${test}.xml)
  if(ARG_SERIAL)
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
