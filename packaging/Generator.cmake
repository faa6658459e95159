# What differs between the kinds of packages; CPack reads it for each.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  # Each package has a summary of its own.
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
endif()
