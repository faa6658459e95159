"""The layer that all contenders compute, its weights and its input.

One Llama layer at the size of Stories110M: RMSNorm, rotary positions, causal
attention, SwiGLU, both residuals. Weights and input are exact in fp16, so that
contenders that store fp32 start from the same numbers.
"""

import json
import struct

import numpy as np

DIM, HIDDEN, HEADS, SEQ = 768, 2048, 12, 256
HEAD_DIM = DIM // HEADS
EPSILON = 1e-5

# As the layer's multiply-adds count: projections, attention, feed-forward.
FLOP = 2 * SEQ * (4 * DIM * DIM + 3 * DIM * HIDDEN) + 4 * SEQ * SEQ * DIM


def weights():
    """Name -> array, [out, in] as the .tdsl examples declare them."""
    random = np.random.default_rng(0)

    def matrix(rows, columns):
        return (random.standard_normal((rows, columns)) * 0.02).astype(
            np.float16).astype(np.float32)

    def gains():
        return (1 + 0.1 * random.standard_normal(DIM)).astype(
            np.float16).astype(np.float32)

    return {
        "attention.norm": gains(),
        "attention.wq": matrix(DIM, DIM),
        "attention.wk": matrix(DIM, DIM),
        "attention.wv": matrix(DIM, DIM),
        "attention.wo": matrix(DIM, DIM),
        "feed_forward.norm": gains(),
        "feed_forward.w1": matrix(HIDDEN, DIM),
        "feed_forward.w3": matrix(HIDDEN, DIM),
        "feed_forward.w2": matrix(DIM, HIDDEN),
    }


def activations():
    """[SEQ, DIM]."""
    x = np.random.default_rng(1).standard_normal((SEQ, DIM))
    return x.astype(np.float16).astype(np.float32)


def angles():
    """cos and sin of the rotary angles, [SEQ, HEAD_DIM / 2]."""
    frequency = 10000.0 ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    angle = np.outer(np.arange(SEQ), frequency)
    return np.cos(angle), np.sin(angle)


def halves_first(matrix):
    """Rows of wq or wk reordered from interleaved pairs (2i, 2i + 1) to halves
    (i, i + HEAD_DIM / 2) per head. Scores do not change when both are, and
    rotating halves is what graph executors do fastest."""
    heads = matrix.reshape(HEADS, HEAD_DIM // 2, 2, DIM)
    return np.ascontiguousarray(
        heads.transpose(0, 2, 1, 3).reshape(DIM, DIM))


def reference(x, w):
    """The layer in double precision, [SEQ, DIM]."""
    w = {name: array.astype(np.float64) for name, array in w.items()}
    x = x.astype(np.float64)

    def norm(x, gain):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain

    def heads(x):
        return x.reshape(SEQ, HEADS, HEAD_DIM).transpose(1, 0, 2)

    def turned(x):
        cosine, sine = angles()
        result = np.empty_like(x)
        even, odd = x[..., 0::2], x[..., 1::2]
        result[..., 0::2] = even * cosine - odd * sine
        result[..., 1::2] = odd * cosine + even * sine
        return result

    h = norm(x, w["attention.norm"])
    q = turned(heads(h @ w["attention.wq"].T))
    k = turned(heads(h @ w["attention.wk"].T))
    v = heads(h @ w["attention.wv"].T)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(HEAD_DIM)
    scores[:, np.triu(np.ones((SEQ, SEQ), bool), 1)] = -np.inf
    probabilities = np.exp(scores - scores.max(-1, keepdims=True))
    probabilities /= probabilities.sum(-1, keepdims=True)
    mixed = (probabilities @ v).transpose(1, 0, 2).reshape(SEQ, DIM)
    x = x + mixed @ w["attention.wo"].T
    h = norm(x, w["feed_forward.norm"])
    gate = h @ w["feed_forward.w1"].T
    up = h @ w["feed_forward.w3"].T
    return x + (gate / (1 + np.exp(-gate)) * up) @ w["feed_forward.w2"].T


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.tobytes())
