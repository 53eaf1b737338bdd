# Lets another project use this build tree: find_package(zerolab CONFIG), then zerolab::experiments.
include(CMakePackageConfigHelpers)

get_property(_rooms GLOBAL PROPERTY ZEROLAB_ROOM_LIBRARIES)
foreach(_room ${_rooms})
  string(REGEX REPLACE "^zerolab_" "" _name ${_room})
  set_target_properties(${_room} PROPERTIES EXPORT_NAME ${_name})
endforeach()
set_target_properties(zerolab_flags PROPERTIES EXPORT_NAME flags)
export(TARGETS zerolab_flags ${_rooms} NAMESPACE zerolab::
       FILE ${CMAKE_BINARY_DIR}/zerolabTargets.cmake)

configure_file(${CMAKE_CURRENT_LIST_DIR}/zerolabConfig.cmake.in
               ${CMAKE_BINARY_DIR}/zerolabConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/zerolabConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
