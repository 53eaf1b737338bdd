# JUnit files, and the Python script that draws the plots.
target_link_libraries(zerolab_experiments PRIVATE tinyxml2::tinyxml2)
target_compile_definitions(zerolab_experiments PRIVATE
  ZEROLAB_PYTHON="${ZEROLAB_PYTHON}"
  ZEROLAB_PLOTS="${CMAKE_SOURCE_DIR}/experiments/report/plots.py")
