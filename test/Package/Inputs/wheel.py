"""Checks what the ELF files of a wheel need: libraries that every Linux has, and files of
the wheel, in folders of the wheel. Checks that tools can be executed, and the size.

usage: wheel.py FILE.whl FOLDER"""
import pathlib
import re
import subprocess
import sys
import zipfile

SYSTEM = re.compile(r"(libc|libm|libgcc_s|libstdc\+\+|libz|ld-linux-x86-64|ld-linux-aarch64)"
                    r"\.so\.\d+")

wheel, folder = map(pathlib.Path, sys.argv[1:])
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(folder)
    modes = {pathlib.Path(entry.filename).name: entry.external_attr >> 16
             for entry in archive.infolist()
             if "/scripts/" in entry.filename and not entry.is_dir()}
files = [path for path in folder.rglob("*") if path.is_file()]
names = {path.name for path in files}
programs = [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]
for path in programs:
    said = subprocess.run(["readelf", "-d", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
        assert SYSTEM.fullmatch(needed) or needed in names, (path.name, needed)
    for search in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", said):
        assert all(word.startswith("$ORIGIN") for word in search.split(":")), (path, search)
assert {name: mode & 0o111 for name, mode in modes.items()} == {
    "anec": 0o111, "ane-run": 0o111}, modes
assert wheel.stat().st_size < 60e6, wheel.stat().st_size
print(f"{len(programs)} programs and libraries are complete")
