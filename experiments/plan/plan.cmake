# Published figures, and the Python script that draws a plan.
target_compile_definitions(zerolab_plan PRIVATE
  ZEROLAB_PUBLISHED="${CMAKE_SOURCE_DIR}/experiments/plan/published/figures.json"
  ZEROLAB_PLAN_PLOTS="${CMAKE_SOURCE_DIR}/experiments/plan/plan_plots.py")
