# JUnit files, and the Python script that draws the plots.
target_link_libraries(zerolab_compare PRIVATE tinyxml2::tinyxml2)
target_compile_definitions(zerolab_compare PRIVATE
  ZEROLAB_PLOTS="${CMAKE_SOURCE_DIR}/experiments/report/plots.py")
