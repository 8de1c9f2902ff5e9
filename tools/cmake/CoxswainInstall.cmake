# What `cmake --install` puts where: libraries, their installed headers, the program, the protocol
# and the package that find_package(coxswain) finds. Included when all targets are known.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/coxswain)

foreach(library IN ITEMS proto base core wire net launch server client host c status)
  if(TARGET coxswain_${library})
    install(TARGETS coxswain_${library} EXPORT coxswain-targets FILE_SET HEADERS)
  endif()
endforeach()
install(EXPORT coxswain-targets NAMESPACE coxswain:: DESTINATION ${package})

if(TARGET coxswain)
  install(TARGETS coxswain)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/proto/coxswain/v1/coxswain.proto
  DESTINATION ${CMAKE_INSTALL_DATADIR}/coxswain/proto/coxswain/v1)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

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
  DESTINATION ${package})
