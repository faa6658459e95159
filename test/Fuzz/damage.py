"""Changes bytes of messages."""


def damage(data, words, choose):
    """The bytes with a few of them changed, or some of the words written over them."""
    data = bytearray(data)
    for _ in range(choose.choice([1, 1, 2, 4])):
        at = choose.randrange(len(data) + 1)
        # Most changes keep the length, as lengths of messages enclose each other.
        kind = choose.choices(range(6), [1, 1, 8, 12, 1, 1])[0]
        if kind == 0:
            data[at:at + choose.choice([1, 2, 8, 64])] = b""
        elif kind == 1:
            data[at:at] = choose.choice(words)
        elif kind == 2:
            word = choose.choice(words)
            data[at:at + len(word)] = word
        elif kind == 3 and at < len(data):
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 4:
            data = data[:at]
        else:
            size = choose.choice([4, 16, 100])
            data[at:at] = data[choose.randrange(len(data) + 1):][:size]
    return bytes(data)
