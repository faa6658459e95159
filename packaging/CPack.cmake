# `cpack -G TGZ` and `cpack -G DEB` in a build: a tarball of an installation, and Debian's
# packages anec (the tools), libanec-c0.1, libanec-dev and python3-anec.
set(CPACK_PACKAGE_NAME anec)
set(CPACK_PACKAGE_VENDOR anec)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler toolchain for the Apple Neural Engine")
set(CPACK_PACKAGE_DESCRIPTION "anec writes, checks and compiles tensor programs for Apple's \
Neural Engine, and runs and trains them on any processor.")
set(CPACK_PACKAGE_CONTACT "The authors of anec <authors@anec.invalid>" CACHE STRING
    "Who answers for the packages")
set(CPACK_PACKAGE_FILE_NAME
    anec-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL tools library development)
if(TARGET _anec)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
# Into a folder of its own, from anywhere; Debian's begin at /.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/Generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/Finish.cmake)
set(CPACK_ANEC_SOURCE_DIR ${PROJECT_SOURCE_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/debian/Packages.cmake)
include(CPack)
