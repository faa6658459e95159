"""BLAKE3, for the digests of damaged files that are to look whole."""
import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
      0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
START, END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF
CHUNK = 1024


def mix(state, a, b, c, d, x, y):
    for word, (first, second) in ((x, (16, 12)), (y, (8, 7))):
        state[a] = (state[a] + state[b] + word) & MASK
        value = state[d] ^ state[a]
        state[d] = (value >> first | value << (32 - first)) & MASK
        state[c] = (state[c] + state[d]) & MASK
        value = state[b] ^ state[c]
        state[b] = (value >> second | value << (32 - second)) & MASK


def compress(key, words, counter, length, flags):
    state = [*key, *IV[:4], counter & MASK, counter >> 32, length, flags]
    for _ in range(7):
        for column in range(4):
            mix(state, column, column + 4, column + 8, column + 12,
                words[2 * column], words[2 * column + 1])
        for column in range(4):
            mix(state, column, (column + 1) % 4 + 4, (column + 2) % 4 + 8,
                (column + 3) % 4 + 12, words[2 * column + 8], words[2 * column + 9])
        words = [words[i] for i in PERMUTATION]
    return [state[i] ^ state[i + 8] for i in range(8)]


def chunk(data, index, root):
    blocks = [data[at:at + 64] for at in range(0, len(data), 64)] or [b""]
    key = IV
    for at, block in enumerate(blocks):
        flags = START * (at == 0)
        if at == len(blocks) - 1:
            flags |= END | root
        words = struct.unpack("<16I", block.ljust(64, b"\0"))
        key = compress(key, words, index, len(block), flags)
    return key


def tree(data, index, root=0):
    if len(data) <= CHUNK:
        return chunk(data, index, root)
    left = CHUNK
    while left * 2 < len(data):
        left *= 2
    words = [*tree(data[:left], index), *tree(data[left:], index + left // CHUNK)]
    return compress(IV, words, 0, 64, PARENT | root)


def blake3(data):
    """The digest of `data` as hexadecimal digits."""
    return struct.pack("<8I", *tree(data, 0, ROOT)).hex()
