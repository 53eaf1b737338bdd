# JUnit files, and the Python script that draws the plots.
target_link_libraries(zerolab_experiments PRIVATE tinyxml2::tinyxml2)
