#!/bin/sh
# Compiles sources against what macOS has, and nothing else.
# usage: mac-syntax.sh CLANG ROOT LLVM-INCLUDE FILE...
set -e
clang=$1 root=$2 llvm=$3
shift 3
for file; do
  "$clang" -fsyntax-only -x objective-c++ -std=c++20 \
    -fobjc-runtime=macosx-12.0 -fobjc-exceptions -fexceptions -fblocks \
    -fno-objc-arc -Wall -Werror -Wno-import-preprocessor-directive-pedantic \
    -Wno-unknown-warning-option -Wno-unused-parameter \
    -isystem "$llvm" -I "$root/include" -I "$root" \
    -I "$root/test/ANE/MacHeaders" "$file"
done
