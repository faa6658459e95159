#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares conversations with what the template programs of models make of them.

The programs are written here as models have them, in their shortest form without
tools and images; chat-programs.json has longer ones, and short programs for each part
of the language. `record` runs them with Jinja2 (python3-jinja2), with the settings of
transformers, and prints a file of conversations and texts, with which `check` compares
`ane-run tokenize --chat`. The tokenizer has the markers, and else bytes, so that its ids
spell the text.

usage: chat_templates.py check RECORDED.json FOLDER
       chat_templates.py record > RECORDED.json"""
import itertools
import json
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent),
                 str(pathlib.Path(__file__).resolve().parents[2] / "Shell")]
import memory
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
LONGER = json.loads((pathlib.Path(__file__).parent / "chat-programs.json").read_text())
PROGRAMS.update(LONGER["programs"])
LANGUAGE = {f"language-{n}": text for n, text in enumerate(LONGER["language"])}


def conversations(name):
    system = {"role": "system", "content": "Answer in one word."}
    texts = ["Which is larger, 2 or 3?", " Three.\n", " Und auf Deutsch? 🎉\n",
             "<think>\nIt is easy.\n</think>\n\nDrei", "Thanks."]
    roles = itertools.cycle(["user", "assistant"])
    talk = [{"role": role, "content": text} for role, text in zip(roles, texts)]
    if name in LANGUAGE:
        yield talk[:3]
        return
    for count in (1, 3, 4, 5):
        yield talk[:count]
        yield [system] + talk[:count]
    yield [system, {"role": "user", "content": "  Hello "}]
    yield talk[:1] + talk[:1]


def record():
    from jinja2.exceptions import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])

    def raise_exception(message):
        raise TemplateError(message)

    environment.globals["raise_exception"] = raise_exception
    environment.filters["tojson"] = lambda value, indent=None: json.dumps(
        value, ensure_ascii=False, indent=indent)
    cases = []
    for name, program in (PROGRAMS | LANGUAGE).items():
        for messages in conversations(name):
            case = {"family": name, "messages": messages}
            try:
                case["text"] = environment.from_string(program).render(
                    messages=messages, add_generation_prompt=True, tools=None,
                    documents=None, bos_token="<s>", eos_token="</s>")
            except TemplateError as error:
                case["refused"] = str(error)
            cases.append(case)
    print("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]")


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
            "chat_template": (PROGRAMS | LANGUAGE)[test["family"]]}))
        (folder / "messages.json").write_text(json.dumps(test["messages"]))
        flag = f"--tokenizer={folder}"
        done = subprocess.run(["ane-run", "tokenize", "--chat", folder / "messages.json",
                               flag], capture_output=True)
        if "refused" in test:
            said = done.stderr.decode()
            if done.returncode != 1 or f"conversation: {test['refused']} [" not in said:
                failures += 1
                print(f"{test['family']}: {said}, expected {test['refused']}")
            continue
        text = subprocess.run(["ane-run", "tokenize", "--decode", "--markers", flag],
                              input=done.stdout, check=True, capture_output=True).stdout
        if text.decode() != test["text"]:
            failures += 1
            print(f"{test['family']}: {text.decode()!r}, expected {test['text']!r} "
                  f"{done.stderr.decode()}")
    print(f"{len(recorded)} conversations, {failures} failures")
    return 1 if failures or not recorded else 0


HOSTILE = {
    "range": "{% for i in range(1000000000000) %}{{ i }}{% endfor %}",
    "double": "{% set ns = namespace(x='aa') %}{% for i in range(99) %}"
              "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "copy": "{% set x = 'a' * 9000000 %}{% for i in range(900000) %}{% set y = x ~ 'b' %}"
            "{% endfor %}",
    "lists": "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}"
             "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}{{ ns.x == [ns.x] }}",
    "pretty": "{% set ns = namespace(x=['ab']) %}{% for i in range(60) %}"
              "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | pprint }}",
    "dicts": "{% set ns = namespace(x={}) %}{% for i in range(100000) %}"
             "{% set ns.x = dict(ns.x, **{i | string: i}) %}{% endfor %}",
    "nested": "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}"
              "{% set ns.x = [ns.x] %}{% endfor %}",
    "cycle": "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}",
    "macro": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "replace": "{% set x = 'a' * 1000000 %}{{ x.replace('a', x) }}",
    "join": "{% set x = 'a' * 1000000 %}{{ range(100000) | join(x) }}",
    "parts": "{{ ('a,' * 5000000).split(',') | length }}",
    "brackets": "{{ " + "(" * 100000, "not": "{{ " + "not " * 100000,
    "members": "{{ a" + ".b" * 100000 + " }}", "sum": "{{ 1" + " + 1" * 100000 + " }}",
    "if": "{% if 1 %}" * 20000, "elif": "{% if 0 %}" + "{% elif 0 %}" * 20000,
    "tag": "{{ 'a", "comment": "{#", "empty": "{{ }}", "long": "a" * 1000001,
}


def hostile(folder):
    """Each ends in seconds with an error that names the template."""
    failures = 0
    for name, program in HOSTILE.items():
        (folder / "chat_template.jinja").write_text(program)
        done = subprocess.run(
            memory.within(2_000_000 << 10, [
                "ane-run", "tokenize", "--chat", folder / "chat.json",
                f"--tokenizer={folder}"]),
            capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or "[bad-chat-template]" not in done.stderr:
            failures += 1
            print(f"{name}: {done.returncode} {done.stderr[:300]}")
    return failures


if sys.argv[1] == "hostile":
    sys.exit(hostile(pathlib.Path(sys.argv[2])))
if sys.argv[1] == "record":
    record()
    sys.exit(0)
sys.exit(check(json.loads(pathlib.Path(sys.argv[2]).read_text()),
               pathlib.Path(sys.argv[3])))
