# The three kinds of target there are. A folder is one library, so that the build enforces the layers:
# a library sees only what it names in DEPENDS.

# assay_library(NAME DEPENDS ... [LIBS ...]): every .cpp and .h of the calling folder.
function(assay_library name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${name} PRIVATE assay_warnings)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} ${scope} ${arg_DEPENDS} ${arg_LIBS} fmt::fmt)
  if(headers) # all_verify_interface_header_sets compiles each header alone
    target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  endif()
endfunction()

# assay_test(NAME SOURCES ... DEPENDS ... [LABELS ...]): a GoogleTest program, one CTest entry a test.
function(assay_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE assay_warnings ${arg_DEPENDS} GTest::gtest_main GTest::gmock)
  gtest_discover_tests(${name} NO_PRETTY_VALUES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()

# assay_fuzzer(NAME SOURCES ... DEPENDS ...): a libFuzzer program for one of our own parsers. Its library code is
# instrumented only in the sanitize preset; there it also runs as a bounded CTest entry.
function(assay_fuzzer name)
  cmake_parse_arguments(arg "" "SEEDS" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE assay_warnings ${arg_DEPENDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME ${name} COMMAND ${name} -max_total_time=20 -rss_limit_mb=2048 -timeout=10
           -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${CMAKE_CURRENT_BINARY_DIR}/${name}.corpus ${arg_SEEDS})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.corpus)
  set_tests_properties(${name} PROPERTIES LABELS "fuzz" TIMEOUT 120)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers) # all of them
  endif()
  add_dependencies(fuzzers ${name})
endfunction()
