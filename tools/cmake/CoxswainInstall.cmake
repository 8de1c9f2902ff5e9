# Installation rules of `cmake --install`, by component: `program` runs jobs, `development` builds
# programs, `python` is the Python package. Included after all targets are defined.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/coxswain)

# Two archives of several layers each, with the names and the requirements of one target, so that programs
# link few libraries. The other names that programs link stand for one of these.
function(coxswain_archive name)
  cmake_parse_arguments(arg "" "" "LAYERS;NAMES;PUBLIC;PRIVATE" ${ARGN})
  set(archive coxswain_${name}_archive)
  set(headers)
  add_library(${archive} STATIC)
  foreach(layer IN LISTS arg_LAYERS)
    target_sources(${archive} PRIVATE $<TARGET_OBJECTS:coxswain_${layer}>)
    get_target_property(of_layer coxswain_${layer} HEADER_SET)
    list(APPEND headers ${of_layer})
  endforeach()
  list(FILTER headers EXCLUDE REGEX NOTFOUND)
  target_sources(${archive} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${headers})
  target_link_libraries(${archive} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  target_compile_features(${archive} INTERFACE cxx_std_20)
  set_target_properties(${archive} PROPERTIES
    LINKER_LANGUAGE CXX
    EXPORT_NAME ${name}
    OUTPUT_NAME coxswain_${name}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  install(TARGETS ${archive} EXPORT coxswain-targets
    ARCHIVE COMPONENT development
    FILE_SET HEADERS COMPONENT development)
  foreach(other IN LISTS arg_NAMES)
    add_library(coxswain_${other}_name INTERFACE)
    target_link_libraries(coxswain_${other}_name INTERFACE ${archive})
    set_target_properties(coxswain_${other}_name PROPERTIES EXPORT_NAME ${other})
    install(TARGETS coxswain_${other}_name EXPORT coxswain-targets)
  endforeach()
endfunction()

coxswain_archive(client
  LAYERS base core wire net launch client c
  NAMES c
  PUBLIC Boost::headers OpenSSL::SSL Threads::Threads)
coxswain_archive(server
  LAYERS http2 proto etcd xla tcp_store server status host
  NAMES host status
  PUBLIC coxswain_client_archive
  PRIVATE PkgConfig::NGHTTP2 protobuf::libprotobuf-lite ZLIB::ZLIB)
set(installed_targets coxswain_client_archive coxswain_server_archive)
install(EXPORT coxswain-targets NAMESPACE coxswain:: DESTINATION ${package} COMPONENT development)
# CMake also finds the build tree: through CMAKE_PREFIX_PATH, or because its programs are in PATH.
export(EXPORT coxswain-targets NAMESPACE coxswain:: FILE ${PROJECT_BINARY_DIR}/coxswain-targets.cmake)
install(FILES ${PROJECT_SOURCE_DIR}/proto/coxswain/v1/coxswain.proto
  DESTINATION ${CMAKE_INSTALL_DATADIR}/coxswain/proto/coxswain/v1 COMPONENT development)

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/coxswain-config.cmake.in
  ${PROJECT_BINARY_DIR}/coxswain-config.cmake
  INSTALL_DESTINATION ${package}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/coxswain-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/coxswain-config.cmake
  ${PROJECT_BINARY_DIR}/coxswain-config-version.cmake
  DESTINATION ${package} COMPONENT development)

file(RELATIVE_PATH package_depth
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
function(coxswain_pkg_config name archive)
  cmake_parse_arguments(arg "" "REQUIRES;LIBS" "" ${ARGN})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/coxswain.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

coxswain_pkg_config(coxswain-client coxswain_client REQUIRES openssl LIBS "-lstdc++ -lm -pthread")
coxswain_pkg_config(coxswain coxswain_server
  REQUIRES "coxswain-client = ${PROJECT_VERSION}, libnghttp2, protobuf-lite, zlib")

if(TARGET coxswain)
  install(TARGETS coxswain COMPONENT program)
  list(APPEND installed_targets coxswain)
  install(FILES
    ${PROJECT_SOURCE_DIR}/tools/deploy/coxswain@.service
    ${PROJECT_SOURCE_DIR}/tools/deploy/coxswain@.socket
    DESTINATION lib/systemd/system COMPONENT program)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/deploy/
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT program
    PATTERN "coxswain@*" EXCLUDE PATTERN Dockerfile EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
endif()
if(TARGET coxswain_completion)
  list(APPEND installed_targets coxswain_completion)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT program)
endif()

if(TARGET coxswain_python)
  list(APPEND installed_targets coxswain_python)
  cmake_path(GET Python3_SITEARCH FILENAME kind)  # Debian's is called dist-packages
  set(COXSWAIN_PYTHON_DIR
    lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/${kind}
    CACHE STRING "Where in the prefix the Python package is installed")
  # The modules for other Pythons that were built in this directory before (tools/release).
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/coxswain DESTINATION ${COXSWAIN_PYTHON_DIR}
    COMPONENT python FILES_MATCHING PATTERN "_native.*.so" PATTERN __pycache__ EXCLUDE)
  install(TARGETS coxswain_python
    LIBRARY DESTINATION ${COXSWAIN_PYTHON_DIR}/coxswain COMPONENT python)
  get_target_property(modules coxswain_python COXSWAIN_MODULES)
  foreach(module IN LISTS modules)
    cmake_path(GET module PARENT_PATH directory)
    install(FILES ${PROJECT_SOURCE_DIR}/src/python/coxswain/${module}
      DESTINATION ${COXSWAIN_PYTHON_DIR}/coxswain/${directory} COMPONENT python)
  endforeach()
  get_target_property(metadata coxswain_python COXSWAIN_METADATA)
  install(DIRECTORY ${metadata} DESTINATION ${COXSWAIN_PYTHON_DIR} COMPONENT python)
endif()

# Everything that `cmake --install` installs.
add_custom_target(coxswain_installed DEPENDS ${installed_targets})

# Part of no component: Debian has its own place for it.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

include(CoxswainPackages)
