# What `cmake --install` puts where. Everything finds the rest relative to itself, so the installed tree can be moved.
# The plug-ins are installed where they are defined (backends/CMakeLists.txt).
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(infermeter-cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

install(TARGETS infermeter EXPORT infermeterTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS infermeter-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS infermeter-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/infermeter)

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

# What a user runs, without tests and benchmarks; and what the sanitizers run.
get_property(folders DIRECTORY ${CMAKE_SOURCE_DIR}/backends PROPERTY SUBDIRECTORIES)
set(plugins)
foreach(folder ${folders})
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "^infermeter_backend_")
  list(FILTER targets EXCLUDE REGEX "_test$")
  list(APPEND plugins ${targets})
endforeach()
add_custom_target(product DEPENDS infermeter infermeter-cli infermeter-worker ${plugins})
get_property(unit_tests DIRECTORY ${CMAKE_SOURCE_DIR}/infermeter PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER unit_tests INCLUDE REGEX "_test$")
add_custom_target(unit-tests DEPENDS ${unit_tests})
