# The documentation is run: README's commands, the tables, the example, the notebook, the site.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
find_package(Doxygen QUIET)
set(_docs_python "${ZEROLAB_PYTHON}")
if(NOT _docs_python)
  set(_docs_python ${Python3_EXECUTABLE})
endif()

# zerolab_docs_test(NAME SECONDS COMMAND...): exit code 77 means that something needed is missing.
function(zerolab_docs_test name seconds)
  add_test(NAME docs.${name} COMMAND ${ARGN})
  set_tests_properties(docs.${name} PROPERTIES
    LABELS docs TIMEOUT ${seconds} PROCESSORS 2 SKIP_RETURN_CODE 77
    ENVIRONMENT "ZEROLAB_BUILD_DIR=${CMAKE_BINARY_DIR};ZEROLAB_HAS_MPI=${ZEROLAB_HAS_MPI};MPLBACKEND=Agg")
endfunction()

set(_here ${CMAKE_CURRENT_LIST_DIR})
zerolab_docs_test(launcher 120 ${Python3_EXECUTABLE} ${_here}/launcher_test.py)
zerolab_docs_test(readme_commands 600 ${Python3_EXECUTABLE} ${_here}/readme_commands_test.py)
zerolab_docs_test(links 30 ${Python3_EXECUTABLE} ${_here}/links_test.py)
zerolab_docs_test(measured_tables 300 ${_docs_python} ${CMAKE_SOURCE_DIR}/docs/measured_tables.py
                  --zerolab $<TARGET_FILE:zerolab> --check)
zerolab_docs_test(own_stage_example 600 ${Python3_EXECUTABLE} ${_here}/own_stage_example_test.py
                  --cmake ${CMAKE_COMMAND} --build-dir ${CMAKE_BINARY_DIR}
                  --compiler ${CMAKE_CXX_COMPILER} "--launcher=$<$<BOOL:${CCACHE_PROGRAM}>:${CCACHE_PROGRAM}>")
zerolab_docs_test(notebook 300 ${Python3_EXECUTABLE} ${_here}/notebook_test.py
                  --python ${_docs_python} --zerolab $<TARGET_FILE:zerolab>)
if(DOXYGEN_FOUND)
  zerolab_docs_test(site 300 ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target docs)
endif()
