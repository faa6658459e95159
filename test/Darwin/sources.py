"""Copies a checkout into a folder, file by file where the content differs, so that a
build there compiles only what has changed since another checkout was built."""
import os
import subprocess


def files_of(checkout):
    """What is, or could be, committed."""
    text = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=checkout, capture_output=True, check=True).stdout.decode()
    return [name for name in text.split("\0")
            if name and os.path.isfile(os.path.join(checkout, name))]


def copy_changed(checkout, folder):
    """Returns how many files were written or removed."""
    changed, names = 0, set(files_of(checkout))
    for name in names:
        source, target = os.path.join(checkout, name), os.path.join(folder, name)
        with open(source, "rb") as file:
            content = file.read()
        if os.path.isfile(target):
            with open(target, "rb") as file:
                if file.read() == content:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
        os.chmod(target, os.stat(source).st_mode & 0o777)
        changed += 1
    for parent, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(parent, file)
            if os.path.relpath(path, folder) not in names:
                os.remove(path)
                changed += 1
    return changed
