"""Trains adapters with PEFT: reads a description of a run as JSON, and writes the losses of
its steps, and the loss of the model that anec wrote. Run with PEFT in PYTHONPATH."""
import json
import sys

import peft
import safetensors.torch
import torch
import transformers

given = json.loads(sys.stdin.read())
model = transformers.AutoModelForCausalLM.from_pretrained(given["model"], dtype=torch.float32)
words = transformers.AutoTokenizer.from_pretrained(given["model"])
# The tokens of the assistant, by the markers of transformers' own templates.
chats = []
for messages in given["chats"]:
    made = words.apply_chat_template(messages, chat_template=given["marked"], tokenize=True,
                                     return_dict=True, return_assistant_tokens_mask=True)
    ids = torch.tensor([made["input_ids"]])
    learned = torch.tensor([made["assistant_masks"]]).bool()
    chats.append((ids, ids.masked_fill(~learned, -100)))


def loss_of(model):
    """The mean over conversations of the means over the tokens of answers."""
    return sum(model(input_ids=ids, labels=labels).loss for ids, labels in chats) / len(chats)


tuned = peft.get_peft_model(model, peft.LoraConfig(
    r=given["rank"], lora_alpha=2 * given["rank"], lora_dropout=0.0, bias="none",
    target_modules=sorted({name.rsplit(".", 2)[-2] for name in given["names"].values()})))
# The same beginning.
drawn = safetensors.torch.load_file(given["adapters"])
state = {}
for name, other in given["names"].items():
    base = "base_model.model." + other.removesuffix(".weight")
    state[base + ".lora_A.default.weight"] = drawn[name + "_lora_a"]
    state[base + ".lora_B.default.weight"] = drawn[name + "_lora_b"]
missing = tuned.load_state_dict(state, strict=False)
assert not missing.unexpected_keys, missing.unexpected_keys
assert not [key for key in missing.missing_keys if "lora" in key], missing.missing_keys
parameters = [parameter for parameter in tuned.parameters() if parameter.requires_grad]
optimizer = torch.optim.AdamW(parameters, lr=given["rate"], betas=(0.9, 0.95), eps=1e-8,
                              weight_decay=0.0)
losses = []
for _ in range(given["steps"]):
    optimizer.zero_grad()
    loss = loss_of(tuned)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    losses.append(loss.item())
with torch.no_grad():
    whole = transformers.AutoModelForCausalLM.from_pretrained(given["written"],
                                                              dtype=torch.float32)
    json.dump({"losses": losses, "mine": loss_of(tuned).item(),
               "written": loss_of(whole).item()}, sys.stdout)
