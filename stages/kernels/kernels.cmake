# Build rules of single files of this room; included by the top CMakeLists.txt.
if(ZEROLAB_SANITIZE STREQUAL "thread")
  # The product's loops run uninstrumented and declare their ranges themselves (gemm.cpp).
  set_source_files_properties(${CMAKE_SOURCE_DIR}/stages/kernels/cpu/gemm.cpp PROPERTIES
    COMPILE_OPTIONS "-fno-sanitize=thread"
    SKIP_PRECOMPILE_HEADERS ON  # they were compiled with the sanitizer
    COMPILE_DEFINITIONS ZEROLAB_TSAN_DECLARES_RANGES)
endif()
if(ZEROLAB_SANITIZE)
  target_compile_options(zerolab_kernels PRIVATE -O3)
endif()
# Eight-lane vectors are passed between inline functions only, so how an ABI would pass them on a
# target without AVX does not matter.
target_compile_options(zerolab_kernels PUBLIC -Wno-psabi)
