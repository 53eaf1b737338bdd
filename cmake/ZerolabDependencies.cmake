# What the project is built from. All of it is in Debian 12; MPI may be missing.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(benchmark REQUIRED)
find_package(tinyxml2 REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

set(ZEROLAB_HAS_MPI OFF)
if(ZEROLAB_WITH_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(ZEROLAB_HAS_MPI ON)
  endif()
endif()

# A Python that imports matplotlib; the first one on PATH may be another.
set(ZEROLAB_PYTHON "" CACHE FILEPATH "Python with matplotlib, for plots")
if(NOT ZEROLAB_PYTHON)
  find_program(_first_python python3)
  foreach(candidate /usr/bin/python3 ${_first_python})
    execute_process(COMMAND ${candidate} -c "import matplotlib" RESULT_VARIABLE _rc
                    OUTPUT_QUIET ERROR_QUIET)
    if(_rc EQUAL 0)
      set(ZEROLAB_PYTHON ${candidate} CACHE FILEPATH "Python with matplotlib, for plots" FORCE)
      break()
    endif()
  endforeach()
endif()

function(zerolab_print_summary)
  message(STATUS "zerolab ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, -march=${ZEROLAB_ARCH}, "
                 "sanitizer '${ZEROLAB_SANITIZE}', MPI ${ZEROLAB_HAS_MPI}, "
                 "plots with '${ZEROLAB_PYTHON}'")
endfunction()
