"""What embed.cpp does, in Python."""
import itertools
import sys

import anec

SMALL = {"layers": 2, "dim": 32, "hidden": 64, "heads": 2, "kv_heads": 1,
         "seq": 16, "vocab": 256}
source, text, folder = sys.argv[1:]

model = anec.compile(source, defines=SMALL, target="m1",
                     folder=f"{folder}/train.anepkg")
for finding in model.check("m4"):
    print(f"{finding.rule}: {finding.message}")
session = anec.Session(model, seed=0)
trainer = anec.Trainer(session)
for tokens, targets in itertools.islice(anec.Windows(text, 16), 10):
    step = trainer.step({"tokens": tokens, "targets": targets})
    print(f"step {step.step} loss {step.loss:.17g}")
session.save_weights(f"{folder}/trained.safetensors")

forward = anec.compile(source, defines=SMALL, target="m1", forward_only=True,
                       folder=f"{folder}/forward.anepkg")
writer = anec.Session(forward, weights=f"{folder}/trained.safetensors")
print(writer.generate("anec ", tokens=40, seed=3))
