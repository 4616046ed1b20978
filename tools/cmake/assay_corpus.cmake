# For projects that keep a kernel's corpus: every case of it becomes a CTest test that `assay replay` runs.
#
#   list(APPEND CMAKE_MODULE_PATH <checkout of Assay>/tools/cmake)
#   include(assay_corpus)
#   assay_add_corpus(CORPUS corpus/my_kernel)
#
# assay_add_corpus(CORPUS <folder> [KERNEL <kernel.toml>] [DEVICE <device>] [PREFIX <text>] [TIMEOUT <seconds>]
#                  [PROGRAM <assay>] [WORKING_DIRECTORY <folder>])
#
# KERNEL puts a manifest in place of the one that the cases name; every case is then to pass. DEVICE is cpu unless
# given. Tests are called <PREFIX><path of the case below CORPUS>, PREFIX being "assay/<folder's name>/" unless given,
# and carry the label "assay". Paths are relative to the calling CMakeLists.txt; so is the working folder, from which
# cases look for their kernel. A corpus without a case is an error: a run that tests nothing is no success. New cases
# are seen at the next build. PROGRAM is ASSAY_PROGRAM, which is found along the PATH or set by -DASSAY_PROGRAM=.
find_program(ASSAY_PROGRAM assay DOC "The assay command")

function(assay_add_corpus)
  cmake_parse_arguments(arg "" "CORPUS;KERNEL;DEVICE;PREFIX;TIMEOUT;PROGRAM;WORKING_DIRECTORY" "" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_CORPUS)
    message(FATAL_ERROR "assay_add_corpus: not understood: ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}; "
                        "it needs CORPUS <folder>")
  endif()
  if(NOT arg_PROGRAM)
    set(arg_PROGRAM ${ASSAY_PROGRAM})
  endif()
  if(NOT arg_PROGRAM)
    message(FATAL_ERROR "assay_add_corpus: there is no assay along the PATH; set ASSAY_PROGRAM")
  endif()
  if(NOT arg_DEVICE)
    set(arg_DEVICE cpu)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  get_filename_component(corpus ${arg_CORPUS} ABSOLUTE)
  if(NOT DEFINED arg_PREFIX)
    get_filename_component(name ${corpus} NAME)
    set(arg_PREFIX assay/${name}/)
  endif()
  set(kernel "")
  if(arg_KERNEL)
    get_filename_component(manifest ${arg_KERNEL} ABSOLUTE)
    set(kernel --kernel ${manifest})
  endif()
  file(GLOB_RECURSE cases CONFIGURE_DEPENDS RELATIVE ${corpus} ${corpus}/*.case)
  if(NOT cases)
    message(FATAL_ERROR "assay_add_corpus: ${corpus} holds no *.case file")
  endif()
  foreach(case IN LISTS cases)
    add_test(NAME ${arg_PREFIX}${case} COMMAND ${arg_PROGRAM} replay ${corpus}/${case} ${kernel} --device ${arg_DEVICE}
             WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
    set_tests_properties(${arg_PREFIX}${case} PROPERTIES LABELS assay TIMEOUT ${arg_TIMEOUT})
  endforeach()
endfunction()
