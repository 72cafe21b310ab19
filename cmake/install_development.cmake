# What programs are built with: headers, CMake package, pkg-config file; and the licence. A wheel has none of it.
include(CMakePackageConfigHelpers)

# The public headers are those that infermeter.hpp includes, directly or not: found when installing, never listed.
install(CODE "set(source_dir \"${CMAKE_SOURCE_DIR}\")
set(generated_dir \"${CMAKE_BINARY_DIR}/generated\")
set(destination \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/infermeter)
install(EXPORT infermeterTargets NAMESPACE infermeter:: DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/infermeterConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/infermeterConfig.cmake.in
  ${CMAKE_BINARY_DIR}/generated/infermeterConfig.cmake INSTALL_DESTINATION ${package}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES ${CMAKE_BINARY_DIR}/generated/infermeterConfig.cmake
  ${CMAKE_BINARY_DIR}/generated/infermeterConfigVersion.cmake DESTINATION ${package})

file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/cmake/infermeter.pc.in ${CMAKE_BINARY_DIR}/generated/infermeter.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/infermeter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
