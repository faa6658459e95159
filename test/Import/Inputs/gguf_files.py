"""Writes GGUF files, and computes what packed elements stand for.

The format is that of ggml's docs/gguf.md; blocks are unpacked as the loops of
`dequantize_row_*` in ggml-quants.c go over them, all blocks at once."""
import struct

import numpy as np

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, \
    FLOAT64 = range(13)
SCALARS = {UINT8: "<B", INT8: "<b", UINT16: "<H", INT16: "<h", UINT32: "<I", INT32: "<i",
           FLOAT32: "<f", BOOL: "<?", UINT64: "<Q", INT64: "<q", FLOAT64: "<d"}


# --- Packed types -------------------------------------------------------------

def half(raw, at):
    """A scale of each block: [blocks, 1]."""
    return raw[:, at:at + 2].copy().view("<f2").astype(np.float32)


def signed(raw):
    return raw.view(np.int8).astype(np.int32)


def low_high(bytes16):
    """16 bytes as 32 numbers of four bits."""
    return np.concatenate([bytes16 & 15, bytes16 >> 4], axis=1).astype(np.int32)


def fifth(raw, at):
    word = raw[:, at:at + 4].copy().view("<u4")
    return ((word >> np.arange(32, dtype=np.uint32)) & 1).astype(np.int32) << 4


def q4_0(raw):
    return half(raw, 0) * (low_high(raw[:, 2:]) - 8).astype(np.float32)


def q4_1(raw):
    return half(raw, 0) * low_high(raw[:, 4:]).astype(np.float32) + half(raw, 2)


def q5_0(raw):
    return half(raw, 0) * ((low_high(raw[:, 6:]) | fifth(raw, 2)) - 16).astype(np.float32)


def q5_1(raw):
    numbers = low_high(raw[:, 8:]) | fifth(raw, 4)
    return half(raw, 0) * numbers.astype(np.float32) + half(raw, 2)


def q8_0(raw):
    return half(raw, 0) * signed(raw[:, 2:]).astype(np.float32)


UNEVEN = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
                  np.float32)


def iq4_nl(raw):
    return half(raw, 0) * UNEVEN[low_high(raw[:, 2:])]


def q2_k(raw):
    scales, quants = raw[:, :16].astype(np.int32), raw[:, 16:80].astype(np.int32)
    d, dmin = half(raw, 80), half(raw, 82)
    parts, which = [], 0
    for begin in (0, 32):
        for shift in (0, 2, 4, 6):
            for at in (begin, begin + 16):
                scale = d * (scales[:, which:which + 1] & 15).astype(np.float32)
                least = dmin * (scales[:, which:which + 1] >> 4).astype(np.float32)
                numbers = (quants[:, at:at + 16] >> shift & 3).astype(np.float32)
                parts.append(scale * numbers - least)
                which += 1
    return np.concatenate(parts, axis=1)


def q3_k(raw):
    mask, quants = raw[:, :32].astype(np.int32), raw[:, 32:96].astype(np.int32)
    words = raw[:, 96:108].copy().view("<u4")
    d = half(raw, 108)
    # The scales as ggml rearranges them, in words of four bytes.
    low, mid, top = words[:, 0], words[:, 1], words[:, 2]
    first, second = np.uint32(0x03030303), np.uint32(0x0F0F0F0F)
    sixes = np.stack([low & second | (top & first) << 4, mid & second | (top >> 2 & first) << 4,
                      low >> 4 & second | (top >> 4 & first) << 4,
                      mid >> 4 & second | (top >> 6 & first) << 4], axis=1)
    scales = sixes.astype("<u4").view(np.uint8).astype(np.int32) - 32
    parts, which, bit = [], 0, 1
    for begin in (0, 32):
        for shift in (0, 2, 4, 6):
            for half_of in (0, 16):
                scale = d * scales[:, which:which + 1].astype(np.float32)
                numbers = quants[:, begin + half_of:begin + half_of + 16] >> shift & 3
                numbers = numbers - np.where(mask[:, half_of:half_of + 16] & bit, 0, 4)
                parts.append(scale * numbers.astype(np.float32))
                which += 1
            bit <<= 1
    return np.concatenate(parts, axis=1)


def scale_min(packed, j):
    if j < 4:
        return packed[:, j] & 63, packed[:, j + 4] & 63
    return (packed[:, j + 4] & 15 | packed[:, j - 4] >> 6 << 4,
            packed[:, j + 4] >> 4 | packed[:, j] >> 6 << 4)


def q4_or_5_k(raw, high, low):
    d, dmin, packed = half(raw, 0), half(raw, 2), raw[:, 4:16].astype(np.int32)
    parts = []
    for j in range(8):
        scale, least = (x.astype(np.float32)[:, None] for x in scale_min(packed, j))
        both = raw[:, low + 32 * (j // 2):low + 32 * (j // 2) + 32].astype(np.int32)
        numbers = both >> 4 if j % 2 else both & 15
        if high:
            numbers = numbers + ((raw[:, high:high + 32].astype(np.int32) >> j & 1) << 4)
        parts.append(d * scale * numbers.astype(np.float32) - dmin * least)
    return np.concatenate(parts, axis=1)


def q4_k(raw):
    return q4_or_5_k(raw, None, 16)


def q5_k(raw):
    return q4_or_5_k(raw, 16, 48)


def q6_k(raw):
    d, out = half(raw, 208), np.empty((len(raw), 256), np.float32)
    for n in (0, 1):
        ql = raw[:, 64 * n:64 * n + 64].astype(np.int32)
        qh = raw[:, 128 + 32 * n:160 + 32 * n].astype(np.int32)
        sc = signed(raw[:, 192 + 8 * n:200 + 8 * n])
        for l in range(32):
            quarters = (ql[:, l] & 15 | (qh[:, l] & 3) << 4,
                        ql[:, l + 32] & 15 | (qh[:, l] >> 2 & 3) << 4,
                        ql[:, l] >> 4 | (qh[:, l] >> 4 & 3) << 4,
                        ql[:, l + 32] >> 4 | (qh[:, l] >> 6 & 3) << 4)
            for index, numbers in enumerate(quarters):
                scale = d[:, 0] * sc[:, l // 16 + 2 * index].astype(np.float32)
                out[:, 128 * n + 32 * index + l] = scale * (numbers - 32).astype(np.float32)
    return out


def iq4_xs(raw):
    d, high = half(raw, 0), raw[:, 2:4].copy().view("<u2").astype(np.int32)
    low, parts = raw[:, 4:8].astype(np.int32), []
    for ib in range(8):
        six = low[:, ib // 2:ib // 2 + 1] >> 4 * (ib % 2) & 15 | (high >> 2 * ib & 3) << 4
        numbers = UNEVEN[low_high(raw[:, 8 + 16 * ib:24 + 16 * ib])]
        parts.append(d * (six - 32).astype(np.float32) * numbers)
    return np.concatenate(parts, axis=1)


class Packing:
    """A packed type. Random bytes are blocks of it, but for the scales: those at
    `scales` are drawn so that elements are of size 1, given `spread`, the size of
    the numbers that they apply to; those at `offsets` take their mean away."""

    def __init__(self, code, elements, size, unpack, scales, spread, offsets=None, mean=0.0):
        self.code, self.elements, self.size, self.unpack = code, elements, size, unpack
        self.scales, self.spread, self.offsets, self.mean = scales, spread, offsets, mean

    def draw(self, rng, blocks, scale):
        raw = rng.integers(0, 256, (blocks, self.size), dtype=np.uint8)
        d = (scale / self.spread * rng.uniform(0.5, 1.5, blocks)).astype("<f2")
        raw[:, self.scales:self.scales + 2] = d.view(np.uint8).reshape(blocks, 2)
        if self.offsets is not None:
            m = (d.astype(np.float32) * self.mean).astype("<f2")
            raw[:, self.offsets:self.offsets + 2] = m.view(np.uint8).reshape(blocks, 2)
        return raw


PACKINGS = {
    "Q4_0": Packing(2, 32, 18, q4_0, 0, 4.6), "Q4_1": Packing(3, 32, 20, q4_1, 0, 4.6, 2, -7.5),
    "Q5_0": Packing(6, 32, 22, q5_0, 0, 9.2), "Q5_1": Packing(7, 32, 24, q5_1, 0, 9.2, 2, -15.5),
    "Q8_0": Packing(8, 32, 34, q8_0, 0, 74), "Q2_K": Packing(10, 256, 84, q2_k, 80, 10, 82, 1.5),
    "Q3_K": Packing(11, 256, 110, q3_k, 108, 42),
    "Q4_K": Packing(12, 256, 144, q4_k, 0, 210, 2, 7.5),
    "Q5_K": Packing(13, 256, 176, q5_k, 0, 430, 2, 15.5),
    "Q6_K": Packing(14, 256, 210, q6_k, 208, 1370),
    "IQ4_NL": Packing(20, 32, 18, iq4_nl, 0, 70),
    "IQ4_XS": Packing(23, 256, 136, iq4_xs, 0, 1300),
}
PLAIN = {"F32": (0, "<f4"), "F16": (1, "<f2"), "F64": (28, "<f8")}
BF16 = 30


def pack(rng, array, kind):
    """The code, the bytes, and the values of an array in a type. Packed types have
    random blocks, as large as the array's elements."""
    if kind in PLAIN:
        code, dtype = PLAIN[kind]
        stored = array.astype(dtype)
        return code, stored.tobytes(), stored.astype(np.float64)
    if kind == "BF16":
        bits = array.astype("<f4").view("<u4") >> 16
        return BF16, bits.astype("<u2").tobytes(), (bits << 16).view("<f4").astype(np.float64)
    packing = PACKINGS[kind]
    assert array.shape[-1] % packing.elements == 0, (array.shape, kind)
    raw = packing.draw(rng, array.size // packing.elements, float(array.std()) or 1.0)
    with np.errstate(all="ignore"):
        values = packing.unpack(raw)
    return packing.code, raw.tobytes(), values.reshape(array.shape).astype(np.float64)


# --- Files --------------------------------------------------------------------

def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    """The bytes of a value; lists are of (type of elements, elements)."""
    if kind == STRING:
        return string(content)
    if kind == ARRAY:
        element, items = content
        return struct.pack("<IQ", element, len(items)) + b"".join(value(element, item)
                                                                  for item in items)
    return struct.pack(SCALARS[kind], content)


def guess(content):
    """The type that llama.cpp's converter gives a value of Python."""
    if isinstance(content, bool):
        return BOOL, content
    if isinstance(content, int):
        return UINT32, content
    if isinstance(content, float):
        return FLOAT32, content
    if isinstance(content, str):
        return STRING, content
    return ARRAY, (guess(content[0])[0], content)


def metadata_bytes(metadata):
    """`metadata`: values by key, or (type, value) where the type matters."""
    data = b""
    for key, content in metadata.items():
        kind, content = content if isinstance(content, tuple) else guess(content)
        data += string(key) + struct.pack("<I", kind) + value(kind, content)
    return data


def write_gguf(path, metadata, arrays, version=3, alignment=32):
    """`arrays`: (code, bytes, shape) by name."""
    entries, data = b"", b""
    for name, (code, raw, shape) in arrays.items():
        data += b"\0" * (-len(data) % alignment)
        entries += string(name) + struct.pack("<I", len(shape))
        entries += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        entries += struct.pack("<IQ", code, len(data))
        data += raw
    head = b"GGUF" + struct.pack("<IQQ", version, len(arrays), len(metadata))
    head += metadata_bytes(metadata) + entries
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % alignment) + data)
