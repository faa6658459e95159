"""Runs a command several times at once, and prints what each prints.
usage: at_once.py N COMMAND..."""
import subprocess
import sys

processes = [subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True)
             for _ in range(int(sys.argv[1]))]
outputs = [process.communicate()[0] for process in processes]
print("".join(outputs), end="")
sys.exit(max(process.returncode for process in processes))
