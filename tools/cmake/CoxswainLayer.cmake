# Output directories, the declaration of layers, and the warnings for our own code.

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

add_library(coxswain_warnings INTERFACE)
target_compile_options(coxswain_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # At -O3, GCC 12 gives false warnings where a std::string is appended to a short literal (GCC PR
  # 105651); which of them depends on what is inlined, and that on which sources are compiled at once.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  # At -O1 it inlines only one of the two functions by which Asio allocates a coroutine's frame.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-mismatched-new-delete>
  # libstdc++ 12 uses a function that it deprecates in std::stable_sort, and clang 19 says so.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # Tests turn this off, and for clang a later -Wextra turns it on again; GCC looks at the rest.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-field-initializers>
  # A source compiled with others hides their names, and its anonymous namespace is in no header.
  $<$<BOOL:${COXSWAIN_UNITY}>:-Wno-shadow>
  $<$<AND:$<BOOL:${COXSWAIN_UNITY}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>
  $<$<BOOL:${COXSWAIN_WERROR}>:-Werror>)

# coxswain_layer(NAME SOURCES ... HEADERS ... LINK ...): one static library per layer, named
# coxswain_NAME with the alias coxswain::NAME. HEADERS are those that are installed and must stand
# alone; LINK mirrors the arrows of ARCHITECTURE.md.
function(coxswain_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK" ${ARGN})
  set(target coxswain_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(coxswain::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden  # else gcc inlines no function that another library could replace
    VISIBILITY_INLINES_HIDDEN ON
    VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_sources(${target} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HEADERS})
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  # Not linked, or the exported targets would need it.
  target_compile_options(${target} PRIVATE
    $<TARGET_PROPERTY:coxswain_warnings,INTERFACE_COMPILE_OPTIONS>)
endfunction()
