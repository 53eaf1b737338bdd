# The contract suite is compiled into two binaries: comm_tests runs it on threads,
# comm_mpi_tests on the processes that mpirun starts.
file(GLOB _contract CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/contract/*.cpp)
target_sources(comm_tests PRIVATE ${_contract})

if(ZEROLAB_HAS_MPI)
  file(GLOB _mpi_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/mpi/*.cpp)
  add_executable(comm_mpi_tests ${_contract} ${_mpi_tests})
  target_link_libraries(comm_mpi_tests PRIVATE zerolab_comm GTest::gtest GTest::gmock)

  # More ranks than cores, as root in a container, one node.
  set(_mpi_environment
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1
      OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
      OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1)
  if(ZEROLAB_SANITIZE)
    list(APPEND _mpi_environment
         TSAN_OPTIONS=ignore_noninstrumented_modules=1
         ASAN_OPTIONS=fast_unwind_on_malloc=0
         LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/mpi/lsan_suppressions.txt)
  endif()
  foreach(_ranks 1 2 3 4 8)
    add_test(NAME comm.mpi.${_ranks}_ranks
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${_ranks}
                     $<TARGET_FILE:comm_mpi_tests>)
    set_tests_properties(comm.mpi.${_ranks}_ranks PROPERTIES
      LABELS mpi TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${_mpi_environment}")
  endforeach()
  set_property(TEST comm.mpi.3_ranks APPEND PROPERTY LABELS sanitize)
endif()

# How a job ends, and its bytes against those that Open MPI's monitoring sees.
if(ZEROLAB_HAS_MPI)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_executable(comm_mpi_job ${CMAKE_CURRENT_LIST_DIR}/mpi_job/main.cpp)
  target_link_libraries(comm_mpi_job PRIVATE zerolab_comm)
  foreach(_how throw mismatch late kill ordered ring)
    add_test(NAME comm.mpi_job.${_how}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/mpi_job/check_job.py
                     ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:comm_mpi_job> 3 ${_how})
    set_tests_properties(comm.mpi_job.${_how} PROPERTIES
      LABELS mpi TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${_mpi_environment}")
  endforeach()
endif()
