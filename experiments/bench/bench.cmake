# The benchmarks: loops that stand for the hardware's limits must be as fast as it is.
set_source_files_properties(${CMAKE_SOURCE_DIR}/experiments/bench/limits.cpp PROPERTIES
  COMPILE_OPTIONS "-O3;-fno-tree-loop-distribute-patterns")
set_source_files_properties(${CMAKE_SOURCE_DIR}/experiments/bench/torch_peer.cpp PROPERTIES
  COMPILE_DEFINITIONS "ZEROLAB_TORCH_STEPS=\"${CMAKE_SOURCE_DIR}/experiments/bench/torch_steps.py\"")
