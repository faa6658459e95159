"""Starts `ane-run serve` with the arguments after the first, which names what is tried:
`answers`, `clients` that leave or are too many, or a port that is `busy`."""
import atexit
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time


class Server:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            ["ane-run", "serve", *sys.argv[2:], *flags], stderr=subprocess.PIPE, text=True,
            # As a terminal starts it: signals that are ignored stay so.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        atexit.register(self.process.kill)  # after a failure
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if " at http://" in line:
                break
        else:
            raise SystemExit("".join(self.lines))
        self.port = int(line.rsplit(":", 1)[1].split("/")[0])
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def ask(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        text = json.dumps(body) if isinstance(body, dict) else body
        connection.request(method, path, text,
                           {"Content-Type": "application/json", **headers})
        return connection, connection.getresponse()

    def json(self, method, path, body=None, headers={}):
        connection, answer = self.ask(method, path, body, headers)
        result = answer.status, json.loads(answer.read())
        connection.close()
        return result

    def chat(self, text, **more):
        return self.json("POST", "/v1/chat/completions",
                         {"messages": [{"role": "user", "content": text}], **more})

    def end(self, how=signal.SIGTERM):
        begin = time.monotonic()
        self.process.send_signal(how)
        code = self.process.wait(20)
        self.reader.join()
        assert code == 0, (code, self.lines)
        assert time.monotonic() - begin < 60


def events(answer):
    """The objects of a stream, which has to end with [DONE]."""
    assert answer.getheader("Content-Type") == "text/event-stream"
    texts = [part[len("data: "):] for part in answer.read().decode().split("\n\n") if part]
    assert texts.pop() == "[DONE]"
    return [json.loads(text) for text in texts]


def content(result):
    status, answer = result
    assert status == 200, answer
    assert answer["object"] == "chat.completion", answer
    (choice,) = answer["choices"]
    assert choice["message"]["role"] == "assistant"
    return choice["message"]["content"], choice["finish_reason"]


def stream(server, path, **body):
    connection, answer = server.ask("POST", path, {**body, "stream": True})
    assert answer.status == 200
    parts = events(answer)
    connection.close()
    assert len({part["id"] for part in parts}) == 1
    return parts


ONE = [{"role": "user", "content": "sun"}]
# A body, and the beginning of the message and the field of the refusal.
REFUSED = [
    ("", "the body is not JSON: the text ends before a value, at byte 0", None),
    ("{\"messages\": [}", "the body is not JSON", None),
    ("[]", "the body is not a JSON object", None),
    ({}, "the body has no `messages`", "messages"),
    ({"messages": None}, "the body has no `messages`", "messages"),
    ({"messages": []}, "`messages` has to be a list of at least one", "messages"),
    ({"messages": [{"content": "a"}]}, "message 0 is not an object with a text `role`",
     "messages"),
    ({"messages": ONE + ONE}, "the `chat_template` refuses this conversation: Roles must",
     "messages"),
    ({"messages": [{"role": "user", "content": 60 * "a"}]},
     "the prompt has 76 tokens, and the model has positions for 64", "messages"),
    ({"messages": ONE, "temprature": 1},
     "`temprature` is not a field of this request; did you mean `temperature`?",
     "temprature"),
    ({"messages": ONE, "prompt": "a"}, "`prompt` is not a field", "prompt"),
    ({"messages": ONE, "temperature": -1}, "`temperature` has to be a number from 0",
     "temperature"),
    ({"messages": ONE, "temperature": "1"}, "`temperature` has to be", "temperature"),
    ({"messages": ONE, "top_p": 0}, "`top_p` has to be a number above 0", "top_p"),
    ({"messages": ONE, "max_tokens": 0}, "`max_tokens` has to be a whole number of at least 1",
     "max_tokens"),
    ({"messages": ONE, "stream_options": {"include_usage": 1}},
     "`stream_options` has to be an object with", "stream_options"),
    ({"messages": ONE, "stream_options": {"foo": True}},
     "`stream_options` has to be an object with", "stream_options"),
    ({"messages": ONE, "chat_template_kwargs": {"messages": []}},
     "`chat_template_kwargs` has to be an object of variables other than `messages`",
     "chat_template_kwargs"),
    ({"messages": ONE, "metadata": [1] * 300000}, "the body is not JSON: it has more than", None),
    ({"messages": ONE, "max_tokens": 1.5}, "`max_tokens` has to be", "max_tokens"),
    ({"messages": ONE, "n": 2}, "`n` has to be 1, or left out", "n"),
    ({"messages": ONE, "logprobs": True}, "`logprobs` has to be false", "logprobs"),
    ({"messages": ONE, "presence_penalty": 1}, "`presence_penalty` has to be 0",
     "presence_penalty"),
    ({"messages": ONE, "logit_bias": {"1": 5}}, "`logit_bias` has to be empty",
     "logit_bias"),
    ({"messages": ONE, "stop": ""}, "`stop` has to be a text", "stop"),
    ({"messages": ONE, "stop": [1]}, "`stop` has to be a text", "stop"),
    ({"messages": ONE, "stream": 1}, "`stream` has to be true or false", "stream"),
    ({"messages": ONE, "tool_choice": "required"}, "`tool_choice` has to be `auto`",
     "tool_choice"),
    ({"messages": ONE, "response_format": {"type": "json_object"}},
     "`response_format` has to be", "response_format"),
]


def other_addresses():
    """Those of this machine, if its name has any."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except socket.gaierror:
        return []
    return [address[4][0] for address in found if not address[4][0].startswith("127.")]


def answers():
    server = Server()
    status, models = server.json("GET", "/v1/models")
    assert status == 200 and [model["id"] for model in models["data"]] == ["sun"]
    assert server.json("GET", "/v1/models/sun")[0] == 200
    assert server.json("GET", "/v1/models/moon")[0] == 404
    assert server.json("GET", "/health") == (200, {"status": "ok"})
    status, answer = server.json("GET", "/v1/nothing")
    assert status == 404 and answer["error"]["message"].startswith("GET /v1/nothing"), answer

    assert content(server.chat("sun")) == ("moon", "stop")
    assert server.chat("sun")[1]["usage"] == {"prompt_tokens": 19, "completion_tokens": 4,
                                              "total_tokens": 23}
    assert content(server.chat("up", model="gpt-5", temperature=None, user="me")) == \
        ("down", "stop")
    assert content(server.chat("up", max_tokens=2)) == ("do", "length")
    assert content(server.chat("up", max_tokens=10**12, top_k=10**12)) == ("down", "stop")
    assert content(server.chat("up", max_completion_tokens=2)) == ("do", "length")
    assert content(server.chat("up", stop="w")) == ("do", "stop")
    assert content(server.chat("up", stop=["x", "n"])) == ("dow", "stop")
    assert content(server.json("POST", "/v1/chat/completions", {"messages": [
        {"role": "user", "content": "sun"}, {"role": "assistant", "content": "moon"},
        {"role": "user", "content": "up"}]})) == ("down", "stop")
    # What the template is given: a number of tools, and a text.
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    for more, tokens in (({}, 19), ({"tools": [tool, tool]}, 20),
                         ({"tools": [tool], "tool_choice": "none"}, 19),
                         ({"chat_template_kwargs": {"greeting": "Hi"}}, 21)):
        assert server.chat("sun", **more)[1]["usage"]["prompt_tokens"] == tokens, more
    # Drawn texts are the same by the same seed, whatever was read before. At such a
    # temperature the last bit of a logit counts.
    drawn = []
    for seed, before in ((1, None), (1, "x"), (1, "up"), (2, "x")):
        if before:
            server.chat(before, max_tokens=30, stop="w")
        drawn.append(content(server.chat("x", temperature=3, seed=seed, max_tokens=20)))
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3], drawn

    parts = stream(server, "/v1/chat/completions", messages=ONE,
                   stream_options={"include_usage": True})
    assert parts[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(part["choices"][0]["delta"]["content"] for part in parts[1:-2]) == "moon"
    assert parts[-2]["choices"][0] == {"index": 0, "delta": {}, "logprobs": None,
                                       "finish_reason": "stop"}
    assert parts[-1]["choices"] == [] and parts[-1]["usage"]["completion_tokens"] == 4

    prompt = "<s>[INST] sun [/INST]"
    _, answer = server.json("POST", "/v1/completions", {"prompt": prompt})
    assert answer["choices"][0]["text"] == "moon", answer
    _, answer = server.json("POST", "/v1/completions", {"prompt": [prompt], "echo": True})
    assert answer["choices"][0]["text"].endswith("[INST] sun [/INST]moon"), answer
    ids = [258, *b"[INST] sun [/INST]"]
    _, answer = server.json("POST", "/v1/completions", {"prompt": ids})
    assert answer["choices"][0]["text"] == "moon", answer
    parts = stream(server, "/v1/completions", prompt=prompt)
    assert "".join(part["choices"][0]["text"] for part in parts) == "moon"
    assert parts[-1]["choices"][0]["finish_reason"] == "stop"

    for body, message, field in REFUSED:
        status, answer = server.json("POST", "/v1/chat/completions", body)
        error = answer["error"]
        assert status == 400 and error["type"] == "invalid_request_error", (body, answer)
        assert error["message"].startswith(message), (body, answer)
        assert error["param"] == field, (body, answer)
    for prompt in (None, ["a", "b"], [1, -1], [], 5, [[1], [2]]):
        status, answer = server.json("POST", "/v1/completions", {"prompt": prompt})
        assert status == 400 and answer["error"]["param"] == "prompt", (prompt, answer)
    status, answer = server.json("POST", "/v1/completions", {"prompt": [259, 300]})
    assert status == 400 and "token id 300" in answer["error"]["message"], answer

    # Pages of other sites, and sizes.
    body = {"messages": ONE}
    for headers, status in (({"Host": "evil.example"}, 403),
                            ({"Host": "evil.example:80"}, 403),
                            ({"Host": "127.0.0.1.evil.example"}, 403),
                            ({"Host": "localhost"}, 200), ({"Host": "[::1]:80"}, 200),
                            ({"Origin": "https://evil.example"}, 403),
                            ({"Origin": "null"}, 403),
                            ({"Origin": "http://localhost:3000"}, 200)):
        assert server.json("POST", "/v1/chat/completions", body, headers)[0] == status, headers
    # The body of a request that is refused is not taken for the next request.
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    for headers, status in (({"Origin": "https://evil.example"}, 403), ({}, 200)):
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status, answer.status
    connection.close()
    assert server.json("POST", "/v1/completions", iter([b"{}"]))[0] == 411  # in chunks
    assert server.json("POST", "/v1/completions", "{}", {"Content-Encoding": "gzip"})[0] == 415
    assert server.json("GET", "/v1/models/" + 2000 * "a")[0] == 414
    status, answer = server.json("POST", "/v1/completions", 17_000_000 * "a")
    assert status == 413 and "too large" in answer["error"]["message"], answer
    # Not HTTP.
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"\0\1\2 nonsense\r\n\r\n")
        raw.settimeout(10)
        raw.recv(1000)
    assert content(server.chat("sun")) == ("moon", "stop")
    for address in other_addresses():
        try:
            socket.create_connection((address, server.port), timeout=2).close()
            raise SystemExit(f"it listens at {address}")
        except OSError:
            pass
    server.end()
    assert any(line.startswith("POST /v1/chat/completions: 4 tokens after 19") for line in
               server.lines), server.lines


def clients():
    server = Server()
    assert content(server.chat("a", max_tokens=3))[1] == "length"
    long = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 8000}

    # A client that goes away while it is answered, and one while it waits.
    def leaves(body, parts):
        connection, answer = server.ask("POST", "/v1/chat/completions", body)
        for _ in range(parts):
            answer.fp.readline()
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()

    for body, parts in (({**long, "stream": True}, 4), (long, 0)):
        leaves(body, parts)
        assert content(server.chat("a", max_tokens=3))[1] == "length"
        deadline = time.monotonic() + 60
        while not any("interrupted" in line for line in server.lines):
            assert time.monotonic() < deadline, server.lines
            time.sleep(0.05)
        server.lines.clear()

    # More than can wait: one is answered, three wait, others are refused.
    connection, answer = server.ask("POST", "/v1/chat/completions", {**long, "stream": True})
    answer.fp.readline()
    results = []

    def ask():
        results.append(server.chat("b", max_tokens=3)[0])
    threads = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while len(results) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    for thread in threads:
        thread.join()
    assert sorted(results) == 3 * [200] + 5 * [503], results

    # TERM ends a text, and those that wait.
    connection, answer = server.ask("POST", "/v1/chat/completions", {**long, "stream": True})
    answer.fp.readline()
    waits = threading.Thread(target=lambda: results.append(leaving()), daemon=True)

    def leaving():
        try:
            return server.chat("c", max_tokens=100)
        except (http.client.HTTPException, OSError, ValueError):
            return "closed"
    waits.start()
    time.sleep(0.3)
    server.end()
    waits.join()
    assert results[-1] == "closed", results[-1]
    try:
        answer.read()
        raise SystemExit("a text that did not end says it did")
    except http.client.IncompleteRead:
        pass


def busy():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(["ane-run", "serve", *sys.argv[2:], f"--port={port}"],
                               capture_output=True, text=True, timeout=60)
        assert ended.returncode == 3, ended
        assert f"cannot listen on port {port} of 127.0.0.1: " in ended.stderr, ended.stderr
        print(ended.stderr)
    # Two servers do not share a port.
    first = Server("--port=0")
    ended = subprocess.run(["ane-run", "serve", *sys.argv[2:], f"--port={first.port}"],
                           capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3, ended
    first.end(signal.SIGINT)


{"answers": answers, "clients": clients, "busy": busy}[sys.argv[1]]()
