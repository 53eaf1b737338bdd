# The benchmark of the main job runs the program itself.
if(TARGET bench_tests AND TARGET zerolab)
  target_compile_definitions(bench_tests PRIVATE ZEROLAB_PROGRAM="$<TARGET_FILE:zerolab>")
  add_dependencies(bench_tests zerolab)
endif()

# An independent count of the bytes that ranks send: Open MPI's own monitoring. The script skips
# itself where MPI or the monitoring is missing.
set(_python "${ZEROLAB_PYTHON}")
if(NOT _python)
  set(_python python3)
endif()
foreach(_ranks 2 3)
  add_test(NAME tools.mpi_monitoring.${_ranks}_ranks
           COMMAND ${_python} ${CMAKE_CURRENT_LIST_DIR}/../tools/mpi_monitoring_test.py
                   --zerolab $<TARGET_FILE:zerolab> --ranks ${_ranks}
                   --mpirun "$<IF:$<BOOL:${ZEROLAB_HAS_MPI}>,${MPIEXEC_EXECUTABLE},>")
  set_tests_properties(tools.mpi_monitoring.${_ranks}_ranks PROPERTIES
    LABELS mpi TIMEOUT 120 PROCESSORS 2 SKIP_RETURN_CODE 77)
endforeach()
