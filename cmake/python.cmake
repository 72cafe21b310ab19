# INFERMETER_PYTHON: is the Python module built, and with it the back ends that are written in Python? Off where
# Python's headers or nanobind are missing.
option(INFERMETER_PYTHON "build the Python module" ON)
# A module with sanitizers could not be loaded into an ordinary Python.
if(INFERMETER_SANITIZE)
  set(INFERMETER_PYTHON OFF)
endif()
if(NOT INFERMETER_PYTHON)
  return()
endif()

if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${CMAKE_SOURCE_DIR}/.venv/bin/python)
endif()
# A wheel without its module would be of no use.
set(missing WARNING)
if(SKBUILD)
  set(missing FATAL_ERROR)
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
# Of a wheel for several versions (wheel.py-api): headers of the stable ABI are the same headers. Before CMake 3.26 nobody says so.
if(SKBUILD_SABI_VERSION AND Python_Development.Module_FOUND AND NOT TARGET Python::SABIModule)
  add_library(Python::SABIModule INTERFACE IMPORTED)
  target_include_directories(Python::SABIModule INTERFACE ${Python_INCLUDE_DIRS})
endif()
if(NOT Python_Development.Module_FOUND)
  message(${missing} "The Python module is left out: there are no headers for Python 3.11 or newer. scripts/setup "
    "installs them (Debian's python3-dev), or give -DPython_EXECUTABLE=PYTHON of one that has them.")
  set(INFERMETER_PYTHON OFF)
  return()
endif()

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind 3.1 CONFIG QUIET)
if(NOT nanobind_FOUND)
  message(${missing} "The Python module is left out: ${Python_EXECUTABLE} has no nanobind 3.1. scripts/setup installs "
    "it in .venv, or give -DPython_EXECUTABLE=PYTHON of one that has it.")
  set(INFERMETER_PYTHON OFF)
endif()
