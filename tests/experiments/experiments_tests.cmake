# Errors under mpirun are said once.
if(ZEROLAB_HAS_MPI AND TARGET zerolab)
  add_test(NAME experiments.one_voice_under_mpi
           COMMAND ${ZEROLAB_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/one_voice_under_mpi.py
                   ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:zerolab>)
  set_tests_properties(experiments.one_voice_under_mpi PROPERTIES
    LABELS mpi TIMEOUT 300 PROCESSORS 2
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,vader;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none")
endif()
