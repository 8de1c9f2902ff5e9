# `cpack`: a Debian package for each component. To publish them, set -DCPACK_PACKAGE_CONTACT=.
find_program(GZIP gzip)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME coxswain)
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "The Coxswain authors <authors@coxswain.invalid>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "coordination service for distributed jobs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME coxswain)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"The tasks of a job register with one coordinator, wait for each other at
barriers, share small data, and learn at once when one of them dies. This
package has the coordinator and the commands that use it.")

# Needed by its headers and its CMake package.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcoxswain-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev, libprotobuf-dev (>= 3.21), \
libssl-dev, libnghttp2-dev, zlib1g-dev, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"Static libraries, headers, the protocol, and the files with which CMake and
pkg-config find them, for programs that are tasks of a job or hold its
coordinator.")

if(TARGET coxswain_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  math(EXPR next_minor "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-coxswain)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    "${CMAKE_CURRENT_LIST_DIR}/python3-coxswain/postinst;${CMAKE_CURRENT_LIST_DIR}/python3-coxswain/prerm")
  # The extension is for one version of Python.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next_minor})")
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION
"The client of Coxswain for Python, blocking and for asyncio, and its
coordinator: membership of a task in a job, barriers, keys and failures.")
endif()

# Debian's policy requires these two in each package; the changes are in CHANGELOG.md.
set(documents ${CMAKE_CURRENT_LIST_DIR}/copyright ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
if(GZIP)
  set(changelog ${PROJECT_BINARY_DIR}/changelog)
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${changelog}
    "coxswain (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
  execute_process(COMMAND ${GZIP} -9nf ${changelog} COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND documents ${changelog}.gz)
endif()
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/coxswain COMPONENT program)
install(FILES ${documents}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcoxswain-dev COMPONENT development)
if(TARGET coxswain_python)
  install(FILES ${documents}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-coxswain COMPONENT python)
endif()
if(COXSWAIN_SELF_CONTAINED)  # one package for several releases, with libraries of its own
  file(WRITE ${PROJECT_BINARY_DIR}/lintian-overrides "embedded-library *\n")
  set(overrides FILES ${PROJECT_BINARY_DIR}/lintian-overrides
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
  install(${overrides} RENAME coxswain COMPONENT program)
  install(${overrides} RENAME python3-coxswain COMPONENT python)
endif()

include(CPack)
