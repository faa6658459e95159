"""What OpenAI's client gets of a server: reads {"port": ..., "question": ..., "count": ...},
and writes the answers as JSON. Run by the python of the peers, with the client's folders."""
import concurrent.futures
import json
import sys
import time

import openai

given = json.loads(sys.stdin.read())
client = openai.OpenAI(base_url=f"http://127.0.0.1:{given['port']}/v1", api_key="none",
                       max_retries=0, timeout=60)
messages = [{"role": "user", "content": given["question"]}]
common = {"model": "any", "temperature": 0, "max_tokens": given["count"]}


def chat(**more):
    return client.chat.completions.create(messages=messages, **{**common, **more})


def text_of(answer):
    return answer.choices[0].message.content


def streamed(**more):
    parts = list(chat(stream=True, stream_options={"include_usage": True}, **more))
    return ("".join(part.choices[0].delta.content or "" for part in parts if part.choices),
            [part.choices[0].finish_reason for part in parts if part.choices][-1],
            parts[-1].usage.completion_tokens)


def refusal(call):
    """The class and the field of an error."""
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.param]
    return None


result = {"models": [model.id for model in client.models.list()]}
answer = chat()
result["chat"] = [text_of(answer), answer.choices[0].finish_reason,
                  answer.usage.completion_tokens]
result["stream"] = streamed()
result["stop"] = text_of(chat(stop=[given["stop"]]))
result["text"] = client.completions.create(prompt=given["prompt"], **common).choices[0].text
result["errors"] = [
    refusal(lambda: chat(temperature=-1)), refusal(lambda: chat(n=2)),
    refusal(lambda: chat(extra_body={"nonsense": 1})),
    refusal(lambda: client.chat.completions.create(model="any", messages=[])),
    refusal(lambda: client.models.retrieve("nothing"))]
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    result["parallel"] = list(pool.map(lambda _: text_of(chat()), range(20)))
# A client that goes away: the next one is answered at once.
stream = chat(stream=True, max_tokens=given["long"])
next(iter(stream))
stream.close()
begin = time.monotonic()
result["after"] = text_of(chat())
result["seconds"] = time.monotonic() - begin
json.dump(result, sys.stdout)
