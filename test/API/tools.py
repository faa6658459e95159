"""What embed.cpp does, by the tools."""
import json
import subprocess
import sys

SMALL = [f"--define={define}" for define in (
    "layers=2", "dim=32", "hidden=64", "heads=2", "kv_heads=1", "seq=16",
    "vocab=256")]
source, text, folder = sys.argv[1:]


def run(*command, code=0):
    result = subprocess.run(command, stdout=subprocess.PIPE)
    assert result.returncode == code, (command, result.returncode)
    return result.stdout


for package, flags in ("train", []), ("forward", ["--forward-only"]):
    run("anec", source, *SMALL, "--target=m1", *flags,
        "-o", f"{folder}/{package}.anepkg")
report = json.loads(run("anec", "check", f"{folder}/train.anepkg",
                        "--target=m4", "--format=json"))
for finding in report["findings"]:
    print(f"{finding['rule']}: {finding['message']}")
run("ane-run", "train", f"{folder}/train.anepkg", "--data", text, "--steps", "10",
    "--checkpoint", f"{folder}/run")
for line in open(f"{folder}/run/train.jsonl"):
    step = json.loads(line)
    print(f"step {step['step']} loss {step['loss']:.17g}")
sys.stdout.flush()
sys.stdout.buffer.write(run(
    "ane-run", "generate", "--echo", f"{folder}/forward.anepkg",
    "--checkpoint", f"{folder}/run", "--prompt=anec ", "--tokens", "40",
    "--seed", "3"))
