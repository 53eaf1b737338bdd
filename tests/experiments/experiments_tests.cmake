# Under mpirun errors are said once, and sums in MPI's own order are explained.
if(ZEROLAB_HAS_MPI AND TARGET zerolab)
  foreach(_test one_voice_under_mpi native_is_explained)
    add_test(NAME experiments.${_test}
             COMMAND ${ZEROLAB_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/${_test}.py
                     ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:zerolab>)
    set_tests_properties(experiments.${_test} PROPERTIES
      LABELS mpi TIMEOUT 300 PROCESSORS 2
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,vader;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none")
  endforeach()
endif()

# A full disk; a rank that is killed.
if(TARGET zerolab)
  set(_ends full_disk)
  if(ZEROLAB_HAS_MPI)
    list(APPEND _ends killed_rank)
  endif()
  foreach(_end ${_ends})
    add_test(NAME experiments.${_end}
             COMMAND ${ZEROLAB_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/ends_badly.py
                     ${CMAKE_SOURCE_DIR}/zerolab ${CMAKE_BINARY_DIR} ${_end})
    set_tests_properties(experiments.${_end} PROPERTIES TIMEOUT 300 PROCESSORS 2)
  endforeach()
endif()

# The same training in PyTorch: alone, with DistributedDataParallel, with ZeroRedundancyOptimizer.
# The script skips itself where PyTorch is missing; Debian's is in Debian's own Python.
if(TARGET zerolab)
  add_test(NAME experiments.torch_training
           COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/torch_training_test.py
                   $<TARGET_FILE:zerolab> ${CMAKE_SOURCE_DIR}/stages/data/corpus.txt)
  set_tests_properties(experiments.torch_training PROPERTIES
    TIMEOUT 300 PROCESSORS 2 SKIP_RETURN_CODE 77)
endif()
