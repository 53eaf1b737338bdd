# Published figures, and the Python script that draws a plan: of the files that read them alone, so
# that nothing else is compiled again when they move.
set_source_files_properties(${CMAKE_SOURCE_DIR}/experiments/plan/published_tables.cpp PROPERTIES
  COMPILE_DEFINITIONS "ZEROLAB_PUBLISHED=\"${CMAKE_SOURCE_DIR}/experiments/plan/published\"")
set_source_files_properties(${CMAKE_SOURCE_DIR}/experiments/plan/plan_plots.cpp PROPERTIES
  COMPILE_DEFINITIONS "ZEROLAB_PLAN_PLOTS=\"${CMAKE_SOURCE_DIR}/experiments/plan/plan_plots.py\"")
