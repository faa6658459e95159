# `cmake --install`: the library, its headers, and the files by which
# find_package(anec) finds it. The tools install themselves.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(ANEC_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/anec)

# Components are packages of packaging/CPack.cmake.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

install(TARGETS anec EXPORT anecTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Headers of a component that is left out are not installed.
set(absent)
if(NOT ANEC_LANGUAGE_MODELS)
  set(absent REGEX "/anec/(Generate|Text|LanguageModels\\.h)$" EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/anec
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h PATTERN *.def ${absent})
install(FILES ${PROJECT_SOURCE_DIR}/include/anec-c.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT anecTargets NAMESPACE anec:: DESTINATION ${ANEC_CMAKE_DIR})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/anecConfig.cmake.in
  ${PROJECT_BINARY_DIR}/anecConfig.cmake
  INSTALL_DESTINATION ${ANEC_CMAKE_DIR})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/anecConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anecConfig.cmake
              ${CMAKE_CURRENT_LIST_DIR}/LlvmHeaders.cmake
              ${CMAKE_CURRENT_LIST_DIR}/Text/FindTextLibraries.cmake
              ${PROJECT_BINARY_DIR}/anecConfigVersion.cmake
        DESTINATION ${ANEC_CMAKE_DIR})
