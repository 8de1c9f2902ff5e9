# Compiles up to eight sources of a target as one, so that their common includes are parsed and
# instantiated once. unity_groups.py determines the groups whenever cmake runs. Included after all
# targets are defined.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Warnings caused only by the grouping: a source does not see the names of its neighbors, and its
# anonymous namespace is not in a header. A build without this option warns.
target_compile_options(coxswain_warnings INTERFACE
  -Wno-shadow $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)

# For each target of the directory and its subdirectories. One grouping per directory, because a
# source may be in several of its targets but has one group.
function(coxswain_unite directory)
  get_property(beneath DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(one IN LISTS beneath)
    coxswain_unite(${one})
  endforeach()

  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  set(sources)
  foreach(target IN LISTS targets)
    get_target_property(listed ${target} SOURCES)
    list(FILTER listed INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS listed)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
      # Generated sources do not exist yet.
      if(EXISTS ${source})
        list(APPEND sources ${source})
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endforeach()
  list(REMOVE_DUPLICATES sources)
  if(NOT sources)
    return()
  endif()

  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/unity_groups.py 8 ${sources}
    OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  foreach(source group IN ZIP_LISTS sources groups)
    set_property(SOURCE ${source} DIRECTORY ${directory} PROPERTY UNITY_GROUP ${group})
  endforeach()
endfunction()

coxswain_unite(${PROJECT_SOURCE_DIR})
