"""Which library has each symbol that the objects of a build leave undefined: reads
and writes stubs of libraries (.tbd), and compares names of C++ with Debian's."""
import glob
import os
import re
import subprocess

LLVM = "/usr/lib/llvm-19/bin/"
# Libraries of C++ with Debian's build of the same: what is used of them has to be
# there too, under its name with libstdc++. Debian's ANTLR is older, so that its
# names are taken as they are.
CPLUSPLUS = {
    "LLVM": (r"\bllvm::|^_?llvm_", "/usr/lib/llvm-19/lib/libLLVMSupport.a"),
    "antlr4-runtime": (r"\bantlr4::|\bantlrcpp::", None),
    "cpp-httplib": (r"\bhttplib::", "/usr/lib/x86_64-linux-gnu/libcpp-httplib.so"),
    "gtest": (r"\btesting::", "/usr/lib/x86_64-linux-gnu/libgtest.a"),
}
COMPILER_RUNTIME = {"___isPlatformVersionAtLeast"}
# libc++ and libc++abi. Its headers know what each system has, and say so of what
# newer ones have (-Wunguarded-availability).
STANDARD = re.compile(r"__ZS|__Z.*St|__ZTI(PK?)?[a-z]$|__Z(d[al]|n[aw])|___cxa_|___gxx_|___dynamic_cast"
                      r"|__ZTVN10__cxxabiv1|__Unwind_|___clang_call_terminate")


# What a program may define in place of the standard library, as one of the tests does.
REPLACED = re.compile("__Z(d[al]|n[aw])")
# What the linker defines, besides a function for each selector of Objective-C.
LINKER = {"___dso_handle", "__mh_execute_header", "__mh_dylib_header"}


def names(flags, files):
    """The symbols that `nm` prints of files, by file."""
    result, file = {}, None
    for start in range(0, len(files), 200):
        text = subprocess.run([LLVM + "llvm-nm", "--print-file-name", "--no-sort",
                               *flags, *files[start:start + 200]],
                              capture_output=True, text=True).stdout
        for line in text.split("\n"):
            file, separator, rest = line.partition(": ")
            if separator:
                result.setdefault(file, []).append(rest.split())
    return result


def exported(library, flag=None):
    """The symbols that a library of this machine defines."""
    flag = flag or ("--dynamic" if ".so" in library else "--extern-only")
    text = subprocess.run([LLVM + "llvm-nm", flag, "--defined-only", "-j", library],
                          capture_output=True, text=True, check=True).stdout
    return {line.split("@")[0] for line in text.split() if not line.endswith(":")}


def symbols_of(objects):
    """What objects define, and what others must: the name, whether it may be
    missing (weak), and the first object that asks."""
    defined, wanted = set(), {}
    for file, rows in names(["--format=darwin"], objects).items():
        for row in rows:
            name, kinds = row[-1], row[:-1]
            if "(undefined)" in kinds:
                weak = "weak" in kinds
                before = wanted.get(name)
                wanted[name] = (weak and (before is None or before[0]),
                                before[1] if before else file)
            elif "external" in kinds:
                defined.add(name)
    return defined, {name: row for name, row in wanted.items()
                     if (name not in defined or REPLACED.match(name))
                     and name not in LINKER
                     and not name.startswith("_objc_msgSend$")}


def read_stub(path):
    """The symbols of a .tbd file for arm64."""
    text, found = open(path).read(), set()
    for block in re.findall(r"symbols:\s*\[(.*?)\]", text, re.S):
        found |= set(re.findall(r"[_$A-Za-z][\w$.]*", block))
    for kind, prefixes in (("classes", ("_OBJC_CLASS_$_", "_OBJC_METACLASS_$_")),
                           ("eh-types", ("_OBJC_EHTYPE_$_",))):
        for block in re.findall(rf"objc-{kind}:\s*\[(.*?)\]", text, re.S):
            for name in re.findall(r"\w+", block):
                found |= {prefix + name for prefix in prefixes}
    return found


def write_library(path, name, symbols):
    lines = ",\n               ".join(f"'{symbol}'" for symbol in sorted(symbols))
    text = ("--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n"
            f"install-name: '/opt/homebrew/lib/lib{name}.dylib'\nexports:\n"
            "  - targets: [ arm64-macos ]\n"
            f"    symbols: [ {lines} ]\n...\n")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path) or open(path).read() != text:
        with open(path, "w") as file:
            file.write(text)


def demangle(symbols):
    text = subprocess.run([LLVM + "llvm-cxxfilt"], input="\n".join(symbols), text=True,
                          capture_output=True, check=True).stdout
    return dict(zip(symbols, text.split("\n")))


def neutral(text):
    """A name of C++ without what differs between standard libraries and systems:
    their inline namespaces, and which of two types of 64 bits uint64_t is."""
    text = re.sub(r"std::(__1|__cxx11)::", "std::", text)
    text = text.replace("std::chrono::_V2::", "std::chrono::")
    text = text.replace("[abi:cxx11]", "").replace("long long", "long")
    text = text.replace(" ", "")
    return re.sub(r"std::basic_([io]stream)<char,std::char_traits<char>>", r"std::\1",
                  text)


def write_used(prefix, sdk, wanted):
    """Writes the stubs of libraries of C++ from what is used of them. Returns how
    many symbols each library gives, and those that no library has, with why."""
    owners = [(os.path.basename(path)[:-4], read_stub(path))
              for path in sorted(glob.glob(f"{sdk}/usr/lib/*.tbd") +
                                 glob.glob(f"{sdk}/System/Library/Frameworks/*/*.tbd"))
              if not path.endswith("libc++.tbd")]
    owners += [("lib" + name, read_stub(f"{prefix}/lib/lib{name}.tbd"))
               for name in ("clang_rt", "mpi", "pcre2-8", "python", "utf8proc")]
    owners.append(("libfmt", exported(f"{prefix}/lib/libfmt.dylib")))
    plain = demangle([name[1:] for name in sorted(wanted)])
    used = {name: set() for name in [*CPLUSPLUS, "c++"]}
    counts, missing = {}, {}
    for symbol in sorted(wanted):
        owner = next((name for name, has in owners if symbol in has), None)
        if owner:
            counts[owner] = counts.get(owner, 0) + 1
            continue
        text = plain[symbol[1:]]
        # A name of anec's own can have LLVM's types in it.
        own = re.match(r"__ZT?[VIS]?NK?4anec", symbol)
        library = next((name for name, (pattern, _) in CPLUSPLUS.items()
                        if not own and re.search(pattern, text)), None)
        if not library and not own and STANDARD.match(symbol):
            library = "c++"
        if library:
            used[library].add(symbol)
        else:
            missing[symbol] = "no library of macOS 14.0 has it"
    for name, (_, debian) in CPLUSPLUS.items():
        write_library(f"{prefix}/lib/lib{name}.tbd", name, used[name])
        counts["lib" + name] = len(used[name])
        if debian and used[name]:
            has = {neutral(text) for text in demangle(sorted(exported(debian))).values()}
            missing |= {symbol: f"{debian} does not have it either"
                        for symbol in used[name] if neutral(plain[symbol[1:]]) not in has}
    write_library(f"{sdk}/usr/lib/libc++.tbd", "c++", used["c++"])
    counts["libc++"] = len(used["c++"])
    return counts, missing
