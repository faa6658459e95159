import anec

small = {"layers": 2, "dim": 32, "hidden": 64, "heads": 2, "kv_heads": 1,
         "seq": 16, "vocab": 256}
model = anec.compile("llama.tdsl", defines=small)
session = anec.Session(model, seed=0)
trainer = anec.Trainer(session, learning_rate=3e-3, warmup=5)
windows = anec.Windows("text.txt", length=16)
for _ in range(100):
    tokens, targets = next(windows)
    step = trainer.step({"tokens": tokens, "targets": targets})
print(f"loss {step.loss:.2f}")

session.save_weights("trained.safetensors")
forward = anec.compile("llama.tdsl", defines=small, forward_only=True)
writer = anec.Session(forward, weights="trained.safetensors")
print(writer.generate("abc", tokens=20, temperature=0))
