//===- Archive.cpp - entries of zip archives ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Archive.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

using namespace anec;
using namespace anec::torch;
using llvm::ArrayRef;
using llvm::StringRef;
namespace endian = llvm::support::endian;

static constexpr uint32_t localMark = 0x04034b50, directoryMark = 0x02014b50,
                          endMark = 0x06054b50, wideEndMark = 0x06064b50,
                          wideLocatorMark = 0x07064b50;
static constexpr size_t localSize = 30, directorySize = 46, endSize = 22,
                        wideEndSize = 56, wideLocatorSize = 20;
static constexpr uint32_t inWideField = 0xffffffff;

static uint16_t read16(ArrayRef<uint8_t> bytes, size_t at) {
  return endian::read16le(bytes.data() + at);
}
static uint32_t read32(ArrayRef<uint8_t> bytes, size_t at) {
  return endian::read32le(bytes.data() + at);
}
static uint64_t read64(ArrayRef<uint8_t> bytes, size_t at) {
  return endian::read64le(bytes.data() + at);
}

/// Whether `size` bytes from `at` on lie in front of `end`.
static bool fits(uint64_t at, uint64_t size, uint64_t end) {
  return at <= end && size <= end - at;
}

namespace {
/// Where the central directory is.
struct Directory {
  uint64_t begin = 0, end = 0, count = 0;
};

/// An entry as its header in the directory, or in front of its data, has it.
struct Header {
  StringRef name;
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packed = 0, size = 0, offset = 0;
  uint64_t next = 0; ///< behind the header

  bool isEncrypted() const { return flags & 1; }
  /// Sizes and checksum follow the data, and only the directory has them.
  bool isStreamed() const { return flags & 8; }
};
} // namespace

static StringRef textAt(ArrayRef<uint8_t> file, uint64_t at, uint64_t size) {
  return {reinterpret_cast<const char *>(file.data()) + at, size_t(size)};
}

/// Reads the 64-bit fields in the extra bytes of a header: those whose narrow
/// field is full, in this order.
static bool readWideFields(ArrayRef<uint8_t> extra,
                           llvm::ArrayRef<uint64_t *> fields) {
  if (llvm::none_of(fields,
                    [](uint64_t *field) { return *field == inWideField; }))
    return true;
  while (extra.size() >= 4) {
    uint16_t id = read16(extra, 0), size = read16(extra, 2);
    extra = extra.drop_front(4);
    if (size > extra.size())
      return false;
    if (id == 1) {
      ArrayRef<uint8_t> values = extra.take_front(size);
      for (uint64_t *field : fields) {
        if (*field != inWideField)
          continue;
        if (values.size() < 8)
          return false;
        *field = read64(values, 0);
        values = values.drop_front(8);
      }
      return true;
    }
    extra = extra.drop_front(size);
  }
  return false;
}

static bool findDirectory(ArrayRef<uint8_t> file, Directory &directory) {
  if (file.size() < endSize)
    return false;
  size_t last = file.size() - endSize;
  size_t first = last > 0xffff ? last - 0xffff : 0;
  size_t at = last + 1;
  while (at-- != first)
    if (read32(file, at) == endMark &&
        at + endSize + read16(file, at + 20) == file.size())
      break;
  if (at + 1 == first)
    return false;
  directory.count = read16(file, at + 10);
  uint64_t size = read32(file, at + 12);
  directory.begin = read32(file, at + 16);
  directory.end = at;
  // PyTorch writes the 64-bit record even where it is not needed. A field that
  // is not full must agree with it.
  bool isWide = at >= wideLocatorSize &&
                read32(file, at - wideLocatorSize) == wideLocatorMark;
  if (isWide) {
    uint64_t wide = read64(file, at - wideLocatorSize + 8);
    if (!fits(wide, wideEndSize, at - wideLocatorSize) ||
        read32(file, wide) != wideEndMark)
      return false;
    uint64_t count = read64(file, wide + 32), bytes = read64(file, wide + 40),
             begin = read64(file, wide + 48);
    if ((directory.count != 0xffff && directory.count != count) ||
        (size != inWideField && size != bytes) ||
        (directory.begin != inWideField && directory.begin != begin))
      return false;
    directory = {begin, wide, count};
    size = bytes;
  } else if (read16(file, at + 4) != 0 || read16(file, at + 6) != 0 ||
             read16(file, at + 8) != directory.count) {
    return false; // in several parts
  }
  return fits(directory.begin, size, directory.end) &&
         directory.begin + size == directory.end &&
         directory.count <= size / directorySize;
}

static bool readDirectoryHeader(ArrayRef<uint8_t> file, uint64_t at,
                                uint64_t end, Header &header) {
  if (!fits(at, directorySize, end) || read32(file, at) != directoryMark)
    return false;
  header.flags = read16(file, at + 8);
  header.method = read16(file, at + 10);
  header.checksum = read32(file, at + 16);
  header.packed = read32(file, at + 20);
  header.size = read32(file, at + 24);
  uint64_t name = read16(file, at + 28), extra = read16(file, at + 30),
           comment = read16(file, at + 32);
  header.offset = read32(file, at + 42);
  at += directorySize;
  if (!fits(at, name + extra + comment, end))
    return false;
  header.name = textAt(file, at, name);
  header.next = at + name + extra + comment;
  return readWideFields(file.slice(at + name, extra),
                        {&header.size, &header.packed, &header.offset});
}

/// The header in front of the data, which ends before `end`.
static bool readLocalHeader(ArrayRef<uint8_t> file, uint64_t at, uint64_t end,
                            Header &header) {
  if (!fits(at, localSize, end) || read32(file, at) != localMark)
    return false;
  header.flags = read16(file, at + 6);
  header.method = read16(file, at + 8);
  header.checksum = read32(file, at + 14);
  header.packed = read32(file, at + 18);
  header.size = read32(file, at + 22);
  uint64_t name = read16(file, at + 26), extra = read16(file, at + 28);
  at += localSize;
  if (!fits(at, name + extra, end))
    return false;
  header.name = textAt(file, at, name);
  header.next = at + name + extra;
  return header.isStreamed() || readWideFields(file.slice(at + name, extra),
                                               {&header.size, &header.packed});
}

static bool isFolder(const Header &header) {
  return !header.name.empty() && header.name.back() == '/' && header.size == 0;
}

/// A header whose fields follow the data has 0 in their place.
static bool agree(const Header &listed, const Header &local) {
  auto isSame = [&](uint64_t given, uint64_t expected) {
    return given == expected || (local.isStreamed() && given == 0);
  };
  return listed.name == local.name && listed.flags == local.flags &&
         listed.method == local.method &&
         isSame(local.checksum, listed.checksum) &&
         isSame(local.size, listed.size) && isSame(local.packed, listed.packed);
}

bool Archive::open(ArrayRef<uint8_t> file, std::string &error) {
  auto fail = [&](const llvm::Twine &why) {
    error = why.str();
    return false;
  };
  Directory directory;
  if (!findDirectory(file, directory))
    return fail("it is not a zip file, or is cut or damaged");
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t at = directory.begin;
  for (uint64_t i = 0; i != directory.count; ++i) {
    Header listed, local;
    if (!readDirectoryHeader(file, at, directory.end, listed))
      return fail("its directory is damaged");
    at = listed.next;
    std::string quoted = "`" + listed.name.str() + "`";
    if (!readLocalHeader(file, listed.offset, directory.begin, local) ||
        !agree(listed, local))
      return fail("the header of entry " + quoted +
                  " contradicts the directory");
    if (listed.isEncrypted())
      return fail("entry " + quoted + " is encrypted");
    if (listed.method != 0)
      return fail("entry " + quoted +
                  " is compressed; write the file with torch.export.save, or "
                  "store the entries as they are");
    if (listed.size != listed.packed ||
        !fits(local.next, listed.size, directory.begin))
      return fail("entry " + quoted + " does not lie in the file");
    ranges.emplace_back(listed.offset, local.next + listed.size);
    if (isFolder(listed))
      continue;
    if (!indices.try_emplace(listed.name, entries.size()).second)
      return fail("entry " + quoted + " occurs twice");
    entries.push_back({listed.name.str(), file.slice(local.next, listed.size),
                       listed.checksum});
  }
  if (at != directory.end)
    return fail("its directory is damaged");
  llvm::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return fail("two of its entries overlap");
  return true;
}

std::vector<StringRef> Archive::names() const {
  std::vector<StringRef> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  return names;
}

Archive::Entry *Archive::find(StringRef name, std::string &error) {
  auto found = indices.find(name);
  if (found != indices.end())
    return &entries[found->second];
  error = "entry `" + name.str() + "` is missing";
  return nullptr;
}

std::optional<ArrayRef<uint8_t>> Archive::read(StringRef name,
                                               std::string &error) {
  Entry *entry = find(name, error);
  if (!entry)
    return std::nullopt;
  if (!entry->wasRead && llvm::crc32(entry->bytes) != entry->checksum) {
    error = "entry `" + name.str() +
            "` is damaged: it does not have its checksum (CRC-32)";
    return std::nullopt;
  }
  entry->wasRead = true;
  return entry->bytes;
}

std::optional<ArrayRef<uint8_t>> Archive::locate(StringRef name,
                                                 std::string &error) {
  const Entry *entry = find(name, error);
  return entry ? std::optional(entry->bytes) : std::nullopt;
}
