# Finds protobuf, whose newer releases have a CMake file of their own that also
# finds what they depend on; Debian 12 has a release without it.
if(NOT TARGET protobuf::libprotobuf-lite)
  find_package(protobuf CONFIG QUIET)
endif()
if(NOT TARGET protobuf::libprotobuf-lite)
  find_package(Protobuf REQUIRED)
endif()
