# What `cmake --install` puts where. Everything finds the rest relative to itself, so the installed tree can be moved.
# In a wheel (SKBUILD is set by scikit-build-core) the prefix is the folder of the package `infermeter` itself.
# The plug-ins are installed where they are defined (backends/CMakeLists.txt).

file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(infermeter-cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

if(SKBUILD)
  # Wheels hold no links: one file, under the name that programs ask for.
  set_target_properties(infermeter PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
  set(links NAMELINK_SKIP)
endif()
install(TARGETS infermeter EXPORT infermeterTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${links})
install(TARGETS infermeter-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS infermeter-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/infermeter)

# What shells and man look for, as the program says it: where it runs on the machine that builds it, or is emulated there.
if(NOT SKBUILD AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  set(shells ${CMAKE_BINARY_DIR}/shells)
  add_custom_command(OUTPUT ${shells}/done DEPENDS infermeter-cli ${CMAKE_SOURCE_DIR}/cmake/write_shell_files.cmake
    COMMAND ${CMAKE_COMMAND} -DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR} -DPROGRAM=$<TARGET_FILE:infermeter-cli> -DFOLDER=${shells} -P ${CMAKE_SOURCE_DIR}/cmake/write_shell_files.cmake
    COMMENT "Writing manual pages and completions")
  add_custom_target(shell-files DEPENDS ${shells}/done)
  install(DIRECTORY ${shells}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${shells}/infermeter.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME infermeter)
  install(FILES ${shells}/infermeter.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _infermeter)
  install(FILES ${shells}/infermeter.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Studies: found beside the program in the build tree as well.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/infermeter)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/studies ${CMAKE_BINARY_DIR}/share/infermeter/studies SYMBOLIC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/infermeter/studies
  FILES_MATCHING PATTERN "*.toml")

# The Python package. In a wheel its Python files come by pyproject.toml; elsewhere PYTHONPATH names the folder above.
if(INFERMETER_PYTHON)
  if(SKBUILD)
    set(python_package .)
  else()
    set(python_package ${CMAKE_INSTALL_LIBDIR}/infermeter/python/infermeter)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/infermeter/ DESTINATION ${python_package}
      FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  endif()
  file(RELATIVE_PATH package_to_lib /${python_package} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(infermeter_python_core PROPERTIES INSTALL_RPATH "$ORIGIN/${package_to_lib}")
  install(TARGETS infermeter_python_core infermeter_python_worker LIBRARY DESTINATION ${python_package})
  install(FILES ${CMAKE_BINARY_DIR}/python/infermeter/_core.pyi DESTINATION ${python_package})
endif()

if(NOT SKBUILD)
  include(cmake/install_development.cmake)
endif()

# What a user runs, without tests and benchmarks; and what the sanitizers run.
get_property(folders DIRECTORY ${CMAKE_SOURCE_DIR}/backends PROPERTY SUBDIRECTORIES)
set(plugins)
foreach(folder ${folders})
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "^infermeter_backend_")
  list(FILTER targets EXCLUDE REGEX "_test$")
  list(APPEND plugins ${targets})
endforeach()
set(python_targets)
if(INFERMETER_PYTHON)
  set(python_targets infermeter_python_core infermeter_python_worker infermeter_python_stub)
  if(TARGET infermeter_python_bytecode)
    list(APPEND python_targets infermeter_python_bytecode)
  endif()
endif()
add_custom_target(product DEPENDS infermeter infermeter-cli infermeter-worker ${plugins} ${python_targets})
if(TARGET shell-files)
  add_dependencies(product shell-files)
endif()
get_property(unit_tests DIRECTORY ${CMAKE_SOURCE_DIR}/infermeter PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER unit_tests INCLUDE REGEX "_test$")
if(TARGET infermeter_fuzz_test)
  list(APPEND unit_tests infermeter_fuzz_test infermeter_fuzz_mutate)
endif()
if(TARGET infermeter_http)
  list(APPEND unit_tests http_test kserve_test openai_test)
endif()
add_custom_target(unit-tests DEPENDS ${unit_tests})
