#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares conversations with what the template programs of models make of them.

The programs are written here as models have them, in their shortest form without
tools and images. `record` runs them with a package of npm and prints a file of
conversations and texts, with which `check` compares `ane-run tokenize --chat`. The
tokenizer has the markers, and else bytes, so that its ids spell the text.

usage: chat_templates.py check RECORDED.json FOLDER
       chat_templates.py record MODULES > RECORDED.json

MODULES is a folder where `npm install @huggingface/jinja` was run."""
import itertools
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from huggingface_cases import byte_characters

CHATML = ("{% for message in messages %}{% if loop.first and messages[0]['role'] != "
          "'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n"
          "' }}{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + "
          "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
PROGRAMS = {
    "chatml": CHATML.replace("{% if loop.first and messages[0]['role'] != 'system' %}{{ "
                             "'<|im_start|>system\\nYou are a helpful assistant."
                             "<|im_end|>\\n' }}{% endif %}", ""),
    "chatml-qwen2": CHATML,
    "qwen3": """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content %}
        {%- set reasoning_content = '' %}
        {%- if '</think>' in message.content %}
            {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
            {%- set reasoning_content = message.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}""",
    "llama3": "{% for message in messages %}{% set content = '<|start_header_id|>' + "
              "message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + "
              "'<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + "
              "content %}{% endif %}{{ content }}{% endfor %}"
              "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant"
              "<|end_header_id|>\\n\\n' }}{% endif %}",
    "llama3.1": """{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Cutting Knowledge Date: December 2023\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "llama2": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = "
              "messages[1:] %}{% set system_message = messages[0]['content'] %}"
              "{% else %}{% set loop_messages = messages %}{% set system_message = "
              "false %}{% endif %}{% for message in loop_messages %}{% if "
              "loop.index0 == 0 and system_message != false %}{% set content = "
              "'<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + "
              "message['content'] %}{% else %}{% set content = message['content'] %}"
              "{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + "
              "content | trim + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
              "{{ ' ' + content | trim + ' ' + eos_token }}{% endif %}{% endfor %}",
    "mistral": "{{ bos_token }}{% for message in messages %}{% if message['role'] == "
               "'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif "
               "message['role'] == 'assistant' %}{{ message['content'] + eos_token}}"
               "{% endif %}{% endfor %}",
    "mistral-v3": """{{- bos_token }}
{%- for message in messages %}
    {%- if message["role"] == "user" %}
        {{- "[INST] " + message["content"] + "[/INST]" }}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- endif %}
{%- endfor %}
""",
    "gemma": "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
             "{{ raise_exception('System role not supported') }}{% endif %}"
             "{% for message in messages %}{% if (message['role'] == 'assistant') %}"
             "{% set role = 'model' %}{% else %}{% set role = message['role'] %}"
             "{% endif %}{{ '<start_of_turn>' + role + '\\n' + message['content'] | "
             "trim + '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}"
             "{{'<start_of_turn>model\\n'}}{% endif %}",
    "gemma3": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {{ message['content'] | trim }}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
""".replace("}}\n    {{ message", "}}\n    {{- message").replace("trim }}\n    {{ '<", "trim }}\n    {{- '<"),
    "phi3": "{% for message in messages %}{% if message['role'] == 'system' %}"
            "{{'<|system|>\\n' + message['content'] + '<|end|>\\n'}}{% elif "
            "message['role'] == 'user' %}{{'<|user|>\\n' + message['content'] + "
            "'<|end|>\\n'}}{% elif message['role'] == 'assistant' %}"
            "{{'<|assistant|>\\n' + message['content'] + '<|end|>\\n'}}{% endif %}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}"
            "{% else %}{{ eos_token }}{% endif %}",
    "phi4": "{% for message in messages %}{{'<|im_start|>' + message['role'] + "
            "'<|im_sep|>' + message['content'] + '<|im_end|>'}}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}"
            "{% endif %}",
    "phi4-mini": "{% for message in messages %}{{ '<|' + message['role'] + '|>' + "
                 "message['content'] + '<|end|>' }}{% endfor %}"
                 "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% else %}"
                 "{{ eos_token }}{% endif %}",
}
NO_SYSTEM = ("mistral", "mistral-v3", "gemma")

REFERENCE = r"""
const fs = require('fs');
const {Template} = require('@huggingface/jinja');
const cases = JSON.parse(fs.readFileSync(0));
for (const test of cases)
  test.text = new Template(test.program).render({
    messages: test.messages, add_generation_prompt: true,
    bos_token: '<s>', eos_token: '</s>'});
fs.writeFileSync(1, JSON.stringify(cases));
"""


def conversations(name):
    system = {"role": "system", "content": "Answer in one word."}
    texts = ["Which is larger, 2 or 3?", " Three.\n", "Und auf Deutsch? 🎉",
             "<think>\nIt is easy.\n</think>\n\nDrei", "Thanks."]
    roles = itertools.cycle(["user", "assistant"])
    talk = [{"role": role, "content": text} for role, text in zip(roles, texts)]
    for count in (1, 3, 4, 5):
        yield talk[:count]
        if name not in NO_SYSTEM:
            yield [system] + talk[:count]


def record(modules):
    cases = [{"family": name, "program": program, "messages": messages}
             for name, program in PROGRAMS.items() for messages in conversations(name)]
    script = pathlib.Path(modules) / "chat.cjs"
    script.write_text(REFERENCE)
    out = subprocess.run(["node", script], input=json.dumps(cases), text=True,
                         check=True, capture_output=True).stdout
    print("[\n" + ",\n".join(json.dumps({key: test[key] for key in
                                         ("family", "messages", "text")})
                             for test in json.loads(out)) + "\n]")


def check(recorded, folder):
    folder.mkdir(parents=True, exist_ok=True)
    characters = byte_characters()
    vocab = {characters[byte]: byte for byte in range(256)}
    (folder / "tokenizer.json").write_text(json.dumps({
        "added_tokens": [
            {"id": 256 + n, "content": text, "special": True, "normalized": False}
            for n, text in enumerate(["<s>", "</s>", "<|im_start|>", "<|eot_id|>"])],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": []}}))
    failures = 0
    for test in recorded:
        (folder / "tokenizer_config.json").write_text(json.dumps({
            "bos_token": "<s>", "eos_token": {"content": "</s>"},
            "chat_template": PROGRAMS[test["family"]]}))
        (folder / "messages.json").write_text(json.dumps(test["messages"]))
        flag = f"--tokenizer={folder}"
        ids = subprocess.run(["ane-run", "tokenize", "--chat", folder / "messages.json",
                              flag], check=True, capture_output=True).stdout
        text = subprocess.run(["ane-run", "tokenize", "--decode", "--markers", flag],
                              input=ids, check=True, capture_output=True).stdout
        if text.decode() != test["text"]:
            failures += 1
            print(f"{test['family']}: {text.decode()!r}, expected {test['text']!r}")
    print(f"{len(recorded)} conversations, {failures} failures")
    return 1 if failures or not recorded else 0


if sys.argv[1] == "record":
    record(sys.argv[2])
    sys.exit(0)
sys.exit(check(json.loads(pathlib.Path(sys.argv[2]).read_text()),
               pathlib.Path(sys.argv[3])))
