# Options of the build, and the flags that the project's promise of equal bits rests on.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3")

option(ZEROLAB_TESTS "Build the tests" ON)
option(ZEROLAB_WITH_MPI "Use MPI where it is found" ON)
set(ZEROLAB_SANITIZE "" CACHE STRING "address, undefined or thread")
set(_default_arch "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(_default_arch "x86-64-v3")
endif()
set(ZEROLAB_ARCH "${_default_arch}" CACHE STRING
    "-march of the build; empty for the compiler's default. native also sets -mtune=generic")

add_library(zerolab_flags INTERFACE)
target_include_directories(zerolab_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(zerolab_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror
  # GCC 12 reports overlaps in `"text" + std::string` that cannot happen (GCC bug 105651).
  -Wno-restrict
  # Contraction would let -O levels and sanitizers change bits; a fused multiply-add is std::fma.
  -ffp-contract=off
  # sqrtf and friends vectorise only without these two; neither changes a value.
  -fno-math-errno -fno-trapping-math)
if(ZEROLAB_ARCH)
  target_compile_options(zerolab_flags INTERFACE -march=${ZEROLAB_ARCH})
  if(ZEROLAB_ARCH STREQUAL "native")
    target_compile_options(zerolab_flags INTERFACE -mtune=generic)
  endif()
endif()
if(ZEROLAB_SANITIZE)
  # Only the kernels, where the tests spend their time, stay at -O3.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1")
  target_compile_options(zerolab_flags INTERFACE
    -fsanitize=${ZEROLAB_SANITIZE} -fno-omit-frame-pointer -g1
    # Instrumented, GCC 12 sees overflows inside fmt that are not there.
    -Wno-stringop-overflow)
  target_link_options(zerolab_flags INTERFACE -fsanitize=${ZEROLAB_SANITIZE})
  if(ZEROLAB_SANITIZE STREQUAL "undefined")
    target_compile_options(zerolab_flags INTERFACE -fno-sanitize-recover=all)
  endif()
  target_compile_definitions(zerolab_flags INTERFACE ZEROLAB_SANITIZE_NAME="${ZEROLAB_SANITIZE}")
endif()
