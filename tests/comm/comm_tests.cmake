# The contract suite is compiled into two binaries: comm_tests runs it on threads,
# comm_mpi_tests on the processes that mpirun starts.
file(GLOB _contract CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/contract/*.cpp)
target_sources(comm_tests PRIVATE ${_contract})
