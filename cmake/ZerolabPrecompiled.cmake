# Much of a build's time goes into reading a handful of headers over and over. Sources still include
# what they use.
option(ZEROLAB_PRECOMPILED "Precompile the headers that most sources include" ON)

function(zerolab_precompile target)
  if(ZEROLAB_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cstdint> <functional> <memory> <string> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

# The headers as `from` has precompiled them; both must have the same options.
function(zerolab_reuse_precompiled target from)
  if(ZEROLAB_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # The two laxities are what ccache needs to know a precompiled header again.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  if(ZEROLAB_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(zerolab_flags INTERFACE -fpch-preprocess)
  endif()
endif()
