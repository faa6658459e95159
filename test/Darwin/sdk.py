"""Lays out what a Mac has for a build: an SDK like Xcode's, the libraries that
Homebrew installs, and the commands of a toolchain, from the packages of
.ci/install-darwin, Debian's headers, and the frameworks beside this file."""
import glob
import os
import re
import shutil
import subprocess

import stubs

here = os.path.dirname(os.path.abspath(__file__))
LLVM = "/usr/lib/llvm-19"
SETTINGS = """{"CanonicalName": "macosx27.0", "Version": "27.0",
 "MaximumDeploymentTarget": "27.0.99",
 "SupportedTargets": {"macosx": {
   "Archs": ["arm64"], "LLVMTargetTripleVendor": "apple",
   "LLVMTargetTripleSys": "macosx", "LLVMTargetTripleEnvironment": ""}}}
"""
# zig's libc++ takes these from the command line. Apple's has them in a file, and
# marks what older systems lack.
CONFIG_SITE = """#pragma once
#define _LIBCPP_ABI_VERSION 1
#define _LIBCPP_ABI_NAMESPACE __1
#define _LIBCPP_ABI_FORCE_ITANIUM 0
#define _LIBCPP_ABI_FORCE_MICROSOFT 0
#define _LIBCPP_HAS_THREADS 1
#define _LIBCPP_HAS_MONOTONIC_CLOCK 1
#define _LIBCPP_HAS_TERMINAL 1
#define _LIBCPP_HAS_MUSL_LIBC 0
#define _LIBCPP_HAS_THREAD_API_PTHREAD 1
#define _LIBCPP_HAS_THREAD_API_EXTERNAL 0
#define _LIBCPP_HAS_THREAD_API_WIN32 0
#define _LIBCPP_HAS_THREAD_API_C11 0
#define _LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS 1
#define _LIBCPP_HAS_FILESYSTEM 1
#define _LIBCPP_HAS_RANDOM_DEVICE 1
#define _LIBCPP_HAS_LOCALIZATION 1
#define _LIBCPP_HAS_UNICODE 1
#define _LIBCPP_HAS_WIDE_CHARACTERS 1
#define _LIBCPP_HAS_TIME_ZONE_DATABASE 0
#define _LIBCPP_INSTRUMENTED_WITH_ASAN 0
#define _LIBCPP_LIBC_PICOLIBC 0
#define _LIBCPP_LIBC_NEWLIB 0
#define _LIBCPP_PSTL_BACKEND_STD_THREAD
#define _LIBCPP_HARDENING_MODE_DEFAULT 2
#define _LIBCPP_ASSERTION_SEMANTIC_DEFAULT 2
"""
# The SDK's <math.h> asks <float.h> for INFINITY alone, after which libc++'s guard
# would keep FLT_MAX and all else away.
FLOAT_H = """#pragma GCC system_header
#undef _LIBCPP_FLOAT_H
#define _LIBCPP_FLOAT_H
#include <__config>
#include_next <float.h>
"""


def write(path, text, mode=0o644):
    """Writes a file unless it is already so: what is newer is compiled again."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and open(path).read() == text:
        return
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def copy(source, target):
    write(target, open(source).read())


def link(source, target):
    if not os.path.exists(source):
        raise SystemExit(f"{source} is missing; .ci/install-dependencies installs it")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.islink(target) or os.readlink(target) != source:
        if os.path.lexists(target):
            os.remove(target)
        os.symlink(source, target)


def include_config_site(path):
    """Gives a header of libc++ the include that zig has taken out of it."""
    if os.path.isfile(path):
        text = open(path).read()
        write(path, re.sub(r"/\* zig patch: instead of including __config_site.*\*/",
                           "#include <__config_site>", text))


def make_sdk(packages, sdk):
    zig = f"{packages}/ziglang/lib"
    include = f"{sdk}/usr/include"
    if not os.path.isdir(f"{include}/c++/v1"):
        shutil.rmtree(include, ignore_errors=True)
        shutil.copytree(f"{zig}/libc/include/any-darwin-any", include)
        shutil.copytree(f"{zig}/libcxx/include", f"{include}/c++/partial")
        for path in glob.glob(f"{include}/c++/partial/__config*") + \
                glob.glob(f"{include}/c++/partial/__configuration/*"):
            include_config_site(path)
        os.rename(f"{include}/c++/partial", f"{include}/c++/v1")
    for header in glob.glob(f"{zig}/libcxxabi/include/*.h"):
        copy(header, f"{include}/c++/v1/{os.path.basename(header)}")
    write(f"{include}/c++/v1/__config_site", CONFIG_SITE)
    write(f"{include}/c++/v1/float.h", FLOAT_H)
    write(f"{sdk}/SDKSettings.json", SETTINGS)
    # Links see the oldest system, and fail where it lacks a symbol.
    copy(f"{packages}/macos14/ziglang/lib/libc/darwin/libSystem.tbd",
         f"{sdk}/usr/lib/libSystem.tbd")
    copy(f"{here}/Frameworks/libobjc.tbd", f"{sdk}/usr/lib/libobjc.tbd")
    for folder in glob.glob(f"{here}/Frameworks/*/"):
        name = os.path.basename(folder[:-1])
        framework = f"{sdk}/System/Library/Frameworks/{name}.framework"
        for file in os.listdir(folder):
            under = "Headers/" if file.endswith(".h") else ""
            copy(folder + file, f"{framework}/{under}{file}")


def make_commands(packages, bin):
    zig = f"{packages}/ziglang"
    link(f"{zig}/lib/include", f"{bin}/../resource/include")
    for name, mode in (("clang", "gcc"), ("clang++", "g++")):
        write(f"{bin}/{name}",
              "#!/bin/sh\n"
              f'exec {zig}/zig clang --driver-mode={mode} '
              f'-resource-dir={os.path.abspath(bin)}/../resource "$@"\n', 0o755)
    link(f"{packages}/lld/usr/lib/llvm-19/bin/lld", f"{bin}/ld64.lld")
    for name in ("ar", "ranlib", "nm", "install-name-tool", "strip"):
        link(f"{LLVM}/bin/llvm-{name}", f"{bin}/llvm-{name}")
    for name in ("compile", "link"):
        copy(f"{here}/{name}", f"{bin}/{name}")
        os.chmod(f"{bin}/{name}", 0o755)
    for name, text in (("empty", ""), ("main", "int main(void) { return 0; }")):
        if not os.path.exists(f"{bin}/{name}.o"):
            subprocess.run([f"{bin}/clang", "--target=arm64-apple-macos14.0", "-x", "c",
                            "-c", "-", "-o", f"{bin}/{name}.o"],
                           input=text, text=True, check=True)
    # A symbol that no shared library can have.
    os.makedirs(f"{bin}/../prefix/lib", exist_ok=True)
    subprocess.run([f"{bin}/llvm-ar", "rcs", f"{bin}/../prefix/lib/libgtest_main.a",
                    f"{bin}/main.o"], check=True)


# CMake's file of each library that has one: what is included, and what is linked.
CONFIGS = {
    "LLVM": """set(LLVM_VERSION_MAJOR 19)
set(LLVM_PACKAGE_VERSION 19.1)
set(LLVM_INCLUDE_DIRS ${prefix}/include)
set(LLVM_TOOLS_BINARY_DIR /usr/lib/llvm-19/bin)
library(LLVMSupport LLVM)
""",
    "antlr4-runtime": """set(ANTLR4_INCLUDE_DIR ${prefix}/include/antlr4-runtime)
library(antlr4_static antlr4-runtime)
library(antlr4_shared antlr4-runtime)
""",
    "fmt": "library(fmt::fmt fmt)\n",
    "GTest": """library(GTest::gtest gtest)
library(GTest::gtest_main gtest_main)
set_target_properties(GTest::gtest_main PROPERTIES
  INTERFACE_LINK_LIBRARIES GTest::gtest)
""",
    "pybind11": """set(pybind11_INCLUDE_DIRS ${prefix}/include)
function(pybind11_add_module name)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX cpp$)
  add_library(${name} MODULE ${sources})
  target_include_directories(${name} SYSTEM PRIVATE
    ${prefix}/include ${prefix}/include/python)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so
    CXX_VISIBILITY_PRESET hidden)
  target_link_options(${name} PRIVATE -undefined dynamic_lookup)
endfunction()
""",
}
CONFIG = """get_filename_component(prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
macro(library name file)
  if(NOT TARGET ${name})
    file(GLOB location ${prefix}/lib/lib${file}.tbd
      ${prefix}/lib/lib${file}.dylib ${prefix}/lib/lib${file}.a)
    add_library(${name} UNKNOWN IMPORTED)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${location}
      INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include)
  endif()
endmacro()
"""
VERSION = """set(PACKAGE_VERSION 99)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
"""
FIND_PYTHON = """set(Python_FOUND TRUE)
set(Python_Development.Module_FOUND TRUE)
"""
FIND_PKG_CONFIG = """set(PKG_CONFIG_FOUND TRUE)
macro(pkg_check_modules name)
  library(PkgConfig::${name} cpp-httplib)
endmacro()
"""
FIND_MPI = """set(MPI_C_FOUND TRUE)
set(MPI_C_INCLUDE_DIRS ${prefix}/include/openmpi)
library(MPI::MPI_C mpi)
"""


def make_prefix(packages, prefix):
    include = f"{prefix}/include"
    debian = "/usr/lib/x86_64-linux-gnu"
    for source, name in (
            (f"{LLVM}/include/llvm", "llvm"), (f"{LLVM}/include/llvm-c", "llvm-c"),
            (f"{packages}/antlr", "antlr4-runtime"),
            (f"{packages}/fmt/cmeel.prefix/include/fmt", "fmt"),
            ("/usr/include/gtest", "gtest"), ("/usr/include/pybind11", "pybind11"),
            (f"{debian}/openmpi/include", "openmpi"),
            ("/usr/include/pcre2.h", "pcre2.h"),
            ("/usr/include/httplib.h", "httplib.h"),
            ("/usr/include/utf8proc.h", "utf8proc.h")):
        link(source, f"{include}/{name}")
    make_python(f"{include}/python")
    link(f"{packages}/fmt/cmeel.prefix/lib/libfmt.dylib", f"{prefix}/lib/libfmt.dylib")
    # What Python's modules find in the program that loads them.
    stubs.write_library(f"{prefix}/lib/libpython.tbd", "python", {
        "_" + symbol for symbol in stubs.exported("/usr/bin/python3", "--dynamic")
        if symbol.startswith(("Py", "_Py"))})
    # Libraries of C are as Debian exports them; those of C++ are written when
    # what is used of them is known, since names there depend on libc++.
    for name, file in (("mpi", f"{debian}/openmpi/lib/libmpi.so"),
                       ("pcre2-8", f"{debian}/libpcre2-8.so"),
                       ("utf8proc", f"{debian}/libutf8proc.so")):
        stubs.write_library(f"{prefix}/lib/lib{name}.tbd", name,
                            {"_" + symbol for symbol in stubs.exported(file)})
    # What the compiler brings along: the question behind @available.
    stubs.write_library(f"{prefix}/lib/libclang_rt.tbd", "clang_rt",
                        stubs.COMPILER_RUNTIME)
    for name in stubs.CPLUSPLUS:
        path = f"{prefix}/lib/lib{name}.tbd"
        if not os.path.exists(path):
            stubs.write_library(path, name, set())
    for name, text in CONFIGS.items():
        write(f"{prefix}/lib/cmake/{name}/{name}Config.cmake", CONFIG + text)
        write(f"{prefix}/lib/cmake/{name}/{name}ConfigVersion.cmake", VERSION)
    write(f"{prefix}/lib/cmake/modules/FindMPI.cmake",
          CONFIG + FIND_MPI)
    write(f"{prefix}/lib/cmake/modules/FindPkgConfig.cmake",
          CONFIG + FIND_PKG_CONFIG)
    write(f"{prefix}/lib/cmake/modules/FindPython.cmake", FIND_PYTHON)


def make_python(target):
    """Python's headers; those of a Mac differ in pyconfig.h alone, and only in
    what pybind11 does not ask for."""
    source = sorted(glob.glob("/usr/include/python3.*"))[-1]
    version = os.path.basename(source)
    if not os.path.isdir(target):
        shutil.copytree(source, target)
    copy(f"/usr/include/x86_64-linux-gnu/{version}/pyconfig.h", f"{target}/pyconfig.h")
