# How lit runs the tests below this folder; lit.site.cfg.py, which CMake writes,
# says where the tools are.
import os
import platform
import shutil
import subprocess
import sys

import lit.util

sys.path.insert(0, os.path.dirname(__file__))
import timed_format  # noqa: E402


def is_running(process):
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def folder_of_run(parent):
    """A folder in `parent` for this process, and none of those that have ended."""
    own = os.path.join(parent, str(os.getpid()))
    os.makedirs(parent, exist_ok=True)
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        if path == own or not name.isdigit() or not is_running(int(name)):
            shutil.rmtree(path, ignore_errors=True)
    os.makedirs(own)
    return own


config.name = "anec"
config.test_format = timed_format.TimedFormat()
config.suffixes = [".tdsl", ".ir", ".mil", ".test"]
config.excludes = ["Inputs", "Fuzz", "World", "run"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.anec_build_dir + "/test/output"

config.environment["PATH"] = os.pathsep.join(
    [config.anec_tools_dir, config.anec_test_tools_dir, config.llvm_tools_dir,
     config.environment["PATH"]])
# The tools of .ci/mac-tools, where it put them first on the path.
for name in ("MAC_TOOLS", "MAC_TOOLS_LOG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "ANEC_REFERENCE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# `--param system=Darwin`: as on another system, where its tools are on the path.
system = lit_config.params.get("system", platform.system())
# `--param python=PROGRAM`: another interpreter.
config.python = lit_config.params.get("python", config.python)

# What the shells of systems do differently, in Python.
shell = {name: f"{config.python} {config.anec_source_dir}/test/Shell/{name}.py"
         for name in ("cut", "edit", "files", "memory", "within")}
config.substitutions += [("%{" + name + "}", command) for name, command in shell.items()]
config.substitutions += [
    ("%examples", config.anec_source_dir + "/examples"),
    ("%rules", config.anec_source_dir + "/lib/Target/RulePrograms"),
    ("%root", config.anec_source_dir),
    ("%build", config.anec_build_dir),
    ("%python", config.python),
    ("%cmake", config.cmake),
    # A compiler for what must not compile.
    ("%{cxx}", config.cxx),
    # g++, so that a build by another compiler does not leave it out.
    ("%{gxx}", shutil.which("g++") or config.cxx),
    ("%{objcxx}", config.objcxx),
    ("%{llvm-include}", config.llvm_include),
    # The framework's double, and ane-run with a backend that opens it.
    ("%{double}", config.anec_build_dir + "/test/lib/ane-double.so"),
    ("%{ane-run}", "env ANEC_ANE_FRAMEWORK=" + config.anec_build_dir +
     "/test/lib/ane-double.so ANEC_COREML_FRAMEWORK=" + config.anec_build_dir +
     "/test/lib/ane-double.so ane-run-double"),
    # What a project that consumes anec is configured with.
    ("%{consumer}", config.consumer_options),
    ("%{unity}", config.unity),
    # Python with `import anec`.
    ("%{import-anec}", "env PYTHONPATH=" + config.anec_build_dir +
     "/python PYTHONDONTWRITEBYTECODE=1 " + config.python),
]

# `UNSUPPORTED: system-darwin`: what a Mac does otherwise. LLVM's tests have the name.
config.available_features.add("system-" + system.lower())
# `REQUIRES: limited-addresses`: more address space than a limit is refused.
if system == "Linux":
    config.available_features.add("limited-addresses")
# `REQUIRES: full-device`: a file that is always full.
if system == "Linux" and os.path.exists("/dev/full"):
    config.available_features.add("full-device")
# `REQUIRES: onnx-testdata`: the cases that the ONNX project publishes.
if os.path.isdir("/usr/share/libonnx-testdata/data"):
    config.available_features.add("onnx-testdata")
# `REQUIRES: slow-tests`: tests of minutes, where they are asked for.
if os.environ.get("ANEC_SLOW_TESTS"):
    config.available_features.add("slow-tests")
# A test that does not end fails by itself, and the others still run. lit needs psutil
# (Debian: python3-psutil) to end its processes.
if (lit_config.maxIndividualTestTime == 0 and not os.environ.get("ANEC_SLOW_TESTS")
        and lit.util.killProcessAndChildrenIsSupported()[0]):
    slower = 6 if config.is_sanitized or config.is_thread_sanitized else 1
    lit_config.maxIndividualTestTime = 900 * slower
# `REQUIRES: proc`: a folder that lists the threads of a process.
if system == "Linux" and os.path.isdir("/proc/self/task"):
    config.available_features.add("proc")
# `REQUIRES: namespaces`: processes with process ids of their own, as in a container.
if shutil.which("unshare") and subprocess.run(
        ["unshare", "--pid", "--fork", "true"], capture_output=True).returncode == 0:
    config.available_features.add("namespaces")
# `REQUIRES: faults`: a library that lets calls of the system fail.
if os.path.exists(os.path.join(config.anec_build_dir, "test", "bin", "libanec-faults.so")):
    config.available_features.add("faults")
# `REQUIRES: numpy`: an independent reference written with it.
if config.has_numpy:
    config.available_features.add("numpy")
# `REQUIRES: torch`: gradients by another implementation, where it is installed.
if config.has_torch:
    config.available_features.add("torch")
# `REQUIRES: c-library`: libanec-c in this build.
if config.has_c_library:
    config.available_features.add("c-library")
# `REQUIRES: python-module`: `import anec`, which an interpreter without
# sanitizers loads.
if config.has_python_module and not config.is_sanitized:
    config.available_features.add("python-module")
# `REQUIRES: python-venv`: what makes virtual environments (Debian: python3-venv).
if subprocess.run([config.python, "-c", "import ensurepip, venv"],
                  capture_output=True).returncode == 0:
    config.available_features.add("python-venv")
# `REQUIRES: wheel`: what the wheel for other systems is made of, and auditwheel, which
# `bash packaging/wheel/install` fetches.
if (os.path.exists(os.path.join(config.anec_build_dir, "packaging/wheel/portable/anec"))
        and {"python-venv", "python-module"} <= set(config.available_features)):
    packer = subprocess.run(["bash", config.anec_source_dir + "/packaging/wheel/install",
                             "--present"], capture_output=True, text=True)
    if packer.returncode == 0:
        config.available_features.add("wheel")
        config.environment["ANEC_WHEEL_CACHE"] = os.path.dirname(
            os.path.dirname(packer.stdout.strip()))
# `REQUIRES: debian`: what Debian's packages are made with, for a build that has them.
if (all(map(shutil.which, ("cpack", "dpkg-shlibdeps", "dpkg-gensymbols", "pkg-config")))
        and os.path.exists(os.path.join(config.anec_build_dir, "CPackConfig.cmake"))
        and not config.is_sanitized):
    config.available_features.add("debian")
# `REQUIRES: sentencepiece`: the programs of that library.
if shutil.which("spm_encode"):
    config.available_features.add("sentencepiece")
# `REQUIRES: language-models`: their component in this build.
if config.has_language_models:
    config.available_features.add("language-models")
# `REQUIRES: huggingface`: tokenizer.json in this build.
if config.has_huggingface:
    config.available_features.add("huggingface")
# `REQUIRES: http-server`: `ane-run serve` in this build.
if config.has_http_server:
    config.available_features.add("http-server")
# `REQUIRES: chromium`: a browser to open pages in.
if shutil.which("chromium"):
    config.available_features.add("chromium")
# `REQUIRES: doxygen`, `REQUIRES: shellcheck`: tools that read comments and scripts.
for tool in ("doxygen", "shellcheck"):
    if shutil.which(tool):
        config.available_features.add(tool)
# `REQUIRES: mkdocs`: what the pages of docs/ are built to a site with.
if shutil.which("mkdocs"):
    config.available_features.add("mkdocs")
# `REQUIRES: clang-format-14`: what code is laid out with.
if shutil.which("clang-format-14"):
    config.available_features.add("clang-format-14")
# Tests that do not say so are not of the engine, where there is one.
config.environment["ANEC_BACKEND"] = "cpu"
# Rules of all systems, also on a Mac.
config.environment["ANEC_OS"] = "any"
# `REQUIRES: ane-double`: the ane backend with a double of its framework.
if config.has_ane_double:
    config.available_features.add("ane-double")
    # Where programs are staged, and the double keeps what it compiled: for each run
    # of the tests, so that none finds what an earlier one left.
    config.environment["TEMP"] = folder_of_run(config.anec_build_dir + "/test/staged")
    # GNUstep and GCC's Objective-C runtime keep what they make at the start.
    config.environment["LSAN_OPTIONS"] = (
        "suppressions=" + config.anec_source_dir + "/test/ANE/leaks.txt"
        ":print_suppressions=0")
# `REQUIRES: mpi`: Open MPI in this build, and its mpirun.
if config.has_mpi and shutil.which("mpirun"):
    config.available_features.add("mpi")
    # Open MPI frees little at its end, and its modules are unloaded by the time
    # that leaks are looked for, so that none can be told from ours.
    no_leaks = "env ASAN_OPTIONS=detect_leaks=0 " if config.is_sanitized else ""
    config.substitutions.append((
        "%mpirun", f"{no_leaks}{shell['within']} 120 mpirun --allow-run-as-root "
        "--oversubscribe --bind-to none"))
if config.is_thread_sanitized:
    # `UNSUPPORTED: thread-sanitizer`: it has a thread of its own.
    config.available_features.add("thread-sanitizer")
    config.environment["TSAN_OPTIONS"] = ":".join(filter(None, [
        config.environment.get("TSAN_OPTIONS"),
        "suppressions=" + config.anec_source_dir + "/test/tsan.txt",
        "print_suppressions=0"]))
if config.is_sanitized:
    config.available_features.add("sanitizer")
    # LLVM's own library is not sanitized: it does not unpoison what it takes from
    # allocators of which the linker kept our sanitized copy.
    config.environment["ASAN_OPTIONS"] = ":".join(filter(None, [
        config.environment.get("ASAN_OPTIONS"), "allow_user_poisoning=0"]))
