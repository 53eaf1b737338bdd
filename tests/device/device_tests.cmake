# What the tests of devices need besides the sources in this folder.
if(ZEROLAB_SANITIZE STREQUAL "thread" AND TARGET device_tests)
  add_executable(forgotten_wait ${CMAKE_CURRENT_LIST_DIR}/tsan/forgotten_wait.cpp)
  target_link_libraries(forgotten_wait PRIVATE zerolab_device)
  target_sources(device_tests PRIVATE ${CMAKE_CURRENT_LIST_DIR}/tsan/visibility_test.cpp)
  target_compile_definitions(device_tests PRIVATE
    ZEROLAB_FORGOTTEN_WAIT="$<TARGET_FILE:forgotten_wait>")
  add_dependencies(device_tests forgotten_wait)
endif()
