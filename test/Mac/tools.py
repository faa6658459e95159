# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tools of a Mac refuse, or do otherwise, of what Linux's take: one row for
each tool. lint.py finds it in the tests and scripts; mac-tool.py is the tools that do so.
"""
import re


def missing(arguments):
    return "a Mac has no such command"


def options(*refused, only_first=False):
    """Refuses words that begin so."""
    def check(arguments):
        for word in arguments:
            if word == "--":
                break
            for option in refused:
                if word == option or (option.startswith("--")
                                      and word.startswith(option + "=")):
                    return f"{option} is an option of Linux's alone"
        return ""
    return check


def letters(refused):
    """Refuses such letters among short options."""
    def check(arguments):
        for word in arguments:
            if word == "--":
                break
            if re.fullmatch(r"-[A-Za-z]+", word):
                for letter in word[1:]:
                    if letter in refused:
                        return f"-{letter} is an option of Linux's alone"
        return ""
    return check


def no_long(arguments):
    for word in arguments:
        if word == "--":
            break
        if re.match(r"--[a-z]", word):
            return f"{word} is an option of Linux's alone"
    return ""


def all_of(*checks):
    return lambda arguments: next(filter(None, (check(arguments) for check in checks)), "")


# In basic expressions; `-E` has them without the backslash.
GNU_PATTERN = re.compile(r"\\[+?|<>bBwWsSxt]")


def pattern(arguments, extended):
    """Refuses GNU's own operators in the first operand, or behind -e."""
    if extended & {letter for word in arguments if re.fullmatch(r"-[A-Za-z]+", word)
                   for letter in word[1:]}:
        return ""
    for index, word in enumerate(arguments):
        if not word.startswith("-") or (index and arguments[index - 1] == "-e"):
            found = GNU_PATTERN.search(word)
            return f"{found[0]} is of GNU's patterns alone; use -E" if found else ""
    return ""


def grep(arguments):
    return letters("PZ")(arguments) or pattern(arguments, {"E", "F"})


def sed(arguments):
    for word in arguments:
        if re.match(r"-[A-Za-z]*i", word) or word.startswith("--in-place"):
            return "-i takes the next word as a suffix; use %{edit}"
    if why := no_long(arguments) or letters("rsz")(arguments):
        return why
    takes_script, scripts, has_script = False, [], "-e" in arguments or "-f" in arguments
    for word in arguments:
        if takes_script or (not word.startswith("-") and not has_script):
            scripts.append(word)
            has_script, takes_script = True, False
        elif re.fullmatch(r"-[nEl]*e", word):
            takes_script = True
    extended = any(re.fullmatch(r"-[ne]*E[ne]*", word) for word in arguments)
    for script in scripts:
        if script.startswith("0,"):
            return "the address 0 is of GNU's sed alone; use %{edit}"
        if not extended and (found := GNU_PATTERN.search(script)):
            return f"{found[0]} is of GNU's patterns alone"
        # In a replacement; a pattern may have it.
        if re.search(r"s(.)(?:(?!\1).)*\1(?:(?!\1).)*\\[nt]", script):
            return "\\n in a replacement is of GNU's sed alone; use %{edit}"
        if re.search(r"(^|[;\n/0-9$])\s*{.*[^;\s{]\s*}\s*$", script):
            return "a command before } ends with ; or a line"
        if re.match(r"[0-9/$,]*\s*[aic][^\\]", script):
            return "a, i and c take their text on the next line"
    return ""


def before_command(check, values=()):
    """Looks at the words before those of a command that is run; `values` are options
    with a word."""
    def check_own(arguments):
        own, is_value = [], False
        for word in arguments:
            if not is_value and not word.startswith("-") and "=" not in word:
                break
            own.append(word)
            is_value = word in values
        return check(own)
    return check_own


def find(arguments):
    if not arguments or arguments[0].startswith(("-name", "-type")):
        return "the folder cannot be left out"
    return options("-printf", "-regextype", "-executable", "-readable", "-writable",
                   "-fprintf")(arguments)


def head(arguments):
    for word, following in zip(arguments, [*arguments[1:], ""]):
        if re.match(r"-[cn]-", word) or (word in ("-c", "-n") and following.startswith("-")):
            return "all but the last is of Linux's head alone"
    return no_long(arguments)


def touch(arguments):
    if "-d" in arguments:
        return "-d takes other dates; use -t"
    return no_long(arguments)


def ulimit(arguments):
    if arguments[:1] and re.search("[vmdx]", arguments[0]):
        return "macOS limits no address space; use %{memory}"
    return ""


def ps(arguments):
    return no_long(arguments)


REFUSED = {
    **{name: missing for name in (
        "b2sum chcon choom chrt eu-readelf flock free gdb getent ionice ldconfig ldd lscpu "
        "md5sum nproc numfmt pidof pmap prlimit ptx readelf setarch setpriv setsid sha1sum "
        "sha256sum sha512sum shuf stdbuf strace tac taskset timeout truncate unshare "
        "valgrind watch").split()},
    "base64": letters("w"),
    "cp": all_of(no_long, letters("TtZ")),
    "cut": no_long,
    "date": all_of(no_long, letters("d")),
    "df": no_long,
    "du": all_of(no_long, letters("b")),
    "env": before_command(no_long, ("-u",)),
    "find": find,
    "grep": grep, "egrep": grep, "fgrep": grep,
    "head": head,
    "install": letters("Dt"),
    "ln": all_of(no_long, letters("rTt")),
    "ls": all_of(no_long, letters("vX")),
    "mkdir": no_long,
    "mktemp": all_of(no_long, letters("p")),
    "mv": all_of(no_long, letters("Tt")),
    "ps": ps,
    "readlink": all_of(no_long, letters("em")),
    "rm": no_long,
    "sed": sed,
    "sort": letters("z"),
    "stat": all_of(no_long, letters("c")),
    "tail": no_long,
    "tar": options("--owner", "--group", "--sort", "--mtime", "--transform"),
    "touch": touch,
    "ulimit": ulimit,
    "uniq": no_long,
    "wc": no_long,
    "xargs": before_command(all_of(no_long, letters("adr")), ("-n", "-I", "-P")),
}


def refuse(command, arguments):
    """Why a Mac's `command` does not take `arguments`; empty when it does."""
    check = REFUSED.get(command)
    return check(list(arguments)) if check else ""


# What bash 3.2, which macOS has as /bin/bash, does not know.
NEW_SHELL = [
    (r"\b(mapfile|readarray|coproc)\b", "bash 3.2 has no {0}"),
    (r"\b(declare|local|typeset)\s+-[a-zA-Z]*A", "bash 3.2 has no arrays with names"),
    (r"\b(declare|local|typeset)\s+-[a-zA-Z]*n", "bash 3.2 has no references"),
    (r"\$\{[A-Za-z_]\w*(\[[^]]*\])?(\^\^?|,,?)[^}]*\}", "bash 3.2 changes no case"),
    (r"\$\{[A-Za-z_]\w*@[A-Za-z]\}", "bash 3.2 has no {0}"),
    (r"\$\{[A-Za-z_]\w*\[-\d+\]", "bash 3.2 counts no elements from the end"),
    (r"&>>", "bash 3.2 has no &>>"),
    (r"\|&", "bash 3.2 has no |&"),
    (r";;?&", "bash 3.2 has no {0}"),
    (r"\bwait\s+-n\b", "bash 3.2 has no wait -n"),
    (r"\[\[\s+-[vR]\s", "bash 3.2 has no [[ -v"),
    (r"\$\{?(EPOCH(REAL|)SECONDS|BASHPID|SRANDOM)\b", "bash 3.2 has no {0}"),
    (r"\bprintf\s+-v\s+\S+\[", "bash 3.2 prints to no element"),
    (r"%\([^)]*\)T", "bash 3.2 prints no dates"),
    (r"\bshopt\s+-s\s+(globstar|lastpipe|inherit_errexit)", "bash 3.2 has no {0}"),
    (r"\bexec\s+\{\w+\}[<>]", "bash 3.2 chooses no descriptors"),
    (r"\{0\d+\.\.\d+\}|\{\d+\.\.\d+\.\.\d+\}", "bash 3.2 counts otherwise in {0}"),
]


def refuse_script(text):
    """(line, why) of what bash 3.2 does not know in a script."""
    found = []
    # An empty array is an unset variable there, which `set -u` refuses.
    strict = re.search(r"^\s*set -\w*u|^\s*set .*nounset", text, re.M)
    empty = set(re.findall(r"(?:^|[\s;])(\w+)=\(\)", text)) if strict else set()
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", line)
        for expression, why in NEW_SHELL:
            if match := re.search(expression, line):
                found.append((number, why.format(match[0].strip())))
        for name in re.findall(r"\$\{(\w+)\[[@*]\]\}", line):
            if name in empty and f"${{{name}[@]+" not in line:
                found.append((number, f"bash 3.2 takes an empty {name} for one that is "
                              f"not set: ${{{name}[@]+\"${{{name}[@]}}\"}}"))
    return found
