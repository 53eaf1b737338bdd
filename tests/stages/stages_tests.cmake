# The same bits whether ranks are threads or processes.
if(ZEROLAB_HAS_MPI AND TARGET zerolab)
  foreach(_ranks 3 4)
    add_test(NAME stages.same_bits_over_mpi.${_ranks}_ranks
             COMMAND ${ZEROLAB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tools/same_bits_over_mpi.py
                     ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:zerolab> ${_ranks})
    set_tests_properties(stages.same_bits_over_mpi.${_ranks}_ranks PROPERTIES
      LABELS mpi TIMEOUT 300 PROCESSORS 2
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,vader;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none")
  endforeach()
endif()
