"""Run by itself, with the package xllamacpp on its path: takes {"model", "prompt", "count"}
as JSON, ids of tokens, and prints the ids that llama.cpp chooses and their probabilities,
with caches in fp32. What llama.cpp logs goes to the standard error."""
import json
import os
import sys

import xllamacpp

given = json.load(sys.stdin)
out = os.dup(1)
os.dup2(2, 1)
params = xllamacpp.CommonParams()
params.model.path = given["model"]
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.n_ctx, params.n_parallel, params.warmup, params.fit_params = 256, 1, False, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
answer = server.handle_completions({
    "prompt": given["prompt"], "max_tokens": given["count"], "n_predict": given["count"],
    "temperature": 0, "return_tokens": True, "n_probs": 1, "cache_prompt": False})
os.write(out, json.dumps(answer).encode())
os._exit(0)
