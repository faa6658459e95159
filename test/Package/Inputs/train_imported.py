"""train_imported.py FOLDER: trains mlp.pt2 of the folder."""
import sys

import anec
import numpy

path = f"{sys.argv[1]}/mlp.pt2"
session = anec.Session(anec.compile(path, loss="mse", precision="fp32"))
trainer = anec.Trainer(session, learning_rate=0.01, warmup=0)
inputs = {"input": numpy.load(f"{sys.argv[1]}/mlp.in.npz")["input"],
          "target": numpy.zeros((3, 4), numpy.float32)}
losses = [trainer.step(inputs).loss for _ in range(10)]
assert losses[-1] < losses[0] / 4, losses
print("falls, and learns", *sorted(session.weights))
for options in {"loss": "l1"}, {"train_weights": ["w"]}:
    try:
        anec.compile(path, **options)
    except anec.Error as error:
        print(error)
