# Measured against predicted once more where ranks are the processes that mpirun starts.
if(ZEROLAB_HAS_MPI)
  add_executable(predict_mpi_tests ${CMAKE_CURRENT_LIST_DIR}/mpi/measured_over_messages.cpp)
  target_link_libraries(predict_mpi_tests PRIVATE zerolab_harness GTest::gtest)
  # More ranks than cores, as root in a container, one node.
  set(_mpi_environment
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1
      OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
      OMPI_MCA_hwloc_base_binding_policy=none)
  foreach(_ranks 3 4)
    add_test(NAME predict.mpi.${_ranks}_ranks
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${_ranks}
                     $<TARGET_FILE:predict_mpi_tests>)
    set_tests_properties(predict.mpi.${_ranks}_ranks PROPERTIES
      LABELS mpi TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${_mpi_environment}")
  endforeach()
endif()
