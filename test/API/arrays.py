"""Arrays of random types, byte orders, shapes and layouts in memory, given to a
session: what it computes with is what numpy says that the array has.

usage: arrays.py [COUNT [SEED]]"""
import sys
import warnings

import anec
import numpy

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 400
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SHAPES = [(), (1,), (5,), (2, 3), (4, 1, 3), (2, 3, 4, 5)]
FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
PORTS = {"half": numpy.float16, "single": numpy.float32, "integer": numpy.int32,
         "flag": numpy.bool_}
MIL = """program(1.3) {{
  func main<ios18>(tensor<fp16, {0}> half, tensor<fp32, {0}> single,
                   tensor<int32, {0}> integer, tensor<bool, {0}> flag) {{
    tensor<fp16, {0}> half_out = identity(x = half);
    tensor<fp32, {0}> single_out = identity(x = single);
    tensor<int32, {0}> integer_out = identity(x = integer);
    tensor<bool, {0}> flag_out = identity(x = flag);
  }} -> (half_out, single_out, integer_out, flag_out);
}}"""


def raises(kinds, function, *args):
    try:
        function(*args)
    except kinds as error:
        return error
    raise AssertionError(f"nothing was raised: {args}")


def elements(rng, dtype, shape):
    """Random elements, among them the largest, NaN and infinity."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        array = numpy.asarray(rng.integers(max(info.min, -9), 10, shape), dtype)
        share = rng.choice([0, 0.2])
        array[rng.random(shape) < share] = info.max
        array[rng.random(shape) < share] = info.min
        return array
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-8, 6)
    odd = rng.choice([numpy.nan, numpy.inf, -numpy.inf, -0.0, 1e-7, 65504, 65520], shape)
    with numpy.errstate(over="ignore"):
        return numpy.where(rng.random(shape) < 0.1, odd, values).astype(dtype)


def laid_out(rng, array):
    """The same elements otherwise in memory, as C, Fortran, strided, reversed,
    transposed, unaligned, read-only or repeated."""
    kind = rng.choice(["c", "fortran", "strided", "reversed", "transposed", "unaligned",
                       "readonly", "repeated"])
    if kind == "fortran":
        return array.copy(order="F")
    if kind == "strided" and array.ndim:
        wide = numpy.zeros((*array.shape[:-1], array.shape[-1] * 3), array.dtype)
        view = wide[..., 1::3]
        view[...] = array
        return view
    if kind == "reversed":
        every = (slice(None, None, -1),) * array.ndim
        return array[every].copy()[every]
    if kind == "transposed":
        return array.T.copy().T
    if kind == "unaligned":
        raw = bytearray(array.nbytes + 1)
        raw[1:] = array.tobytes()
        return numpy.frombuffer(raw, array.dtype, offset=1).reshape(array.shape)
    if kind == "readonly":
        array = array.copy()
        array.flags.writeable = False
    if kind == "repeated" and array.ndim:
        return numpy.broadcast_to(array[:1], array.shape)
    return array


def fits(array, wanted):
    if array.dtype.kind == "f":
        return False
    low, high = (0, 1) if wanted == numpy.bool_ else (
        numpy.iinfo(wanted).min, numpy.iinfo(wanted).max)
    return all(low <= int(element) <= high for element in array.flat)


def check(session, rng, shape):
    """One run with an array of random elements for one input."""
    dtype = numpy.dtype(str(rng.choice(FLOATS + INTEGERS))).newbyteorder(
        str(rng.choice(["<", ">"])))
    name = str(rng.choice(list(PORTS)))
    wanted = numpy.dtype(PORTS[name])
    array = laid_out(rng, elements(rng, dtype, shape))
    inputs = {port: numpy.zeros(shape, kind) for port, kind in PORTS.items()}
    inputs[name] = array
    before = array.copy()
    if wanted.kind != "f" and not fits(array, wanted):
        raises((TypeError, ValueError), session.run, inputs)
        return "refused"
    outputs = session.run(inputs)
    got = outputs[name + "_out"]
    with numpy.errstate(over="ignore"):
        expected = array.astype(wanted)
    assert got.dtype == wanted and got.shape == shape and got.flags.c_contiguous
    assert numpy.array_equal(got, expected, equal_nan=wanted.kind == "f"), (
        name, array.dtype, array.strides, array, got, expected)
    assert numpy.array_equal(before, array, equal_nan=dtype.kind == "f")
    return "right"


def check_refusals(session, shape):
    zeros = {port: numpy.zeros(shape, kind) for port, kind in PORTS.items()}
    for wrong in (numpy.zeros(shape, complex), numpy.zeros(shape, "M8[s]"),
                  numpy.full(shape, "a"), numpy.zeros(shape, object),
                  numpy.zeros(shape, "f4,f4")):
        for name in PORTS:
            raises(TypeError, session.run, {**zeros, name: wrong})
    masked = numpy.ma.masked_array(numpy.zeros(shape), numpy.ones(shape))
    raises(ValueError, session.run, {**zeros, "half": masked})
    for other in (numpy.zeros((0,)), numpy.zeros((7, *shape)), numpy.zeros((7, 0))):
        error = raises(anec.Error, session.run, {**zeros, "half": other})
        assert error.diagnostics[0].id in ("array-shape", "array-size"), error
    error = raises(anec.Error, session.run, {**zeros, "none": zeros["half"]})
    assert [found.id for found in error.diagnostics] == ["no-such-input"], error
    raises(TypeError, session.run, zeros["half"])
    # Axes of one element come and go.
    session.run({**zeros, "half": zeros["half"].reshape((1, *shape, 1))})


def check_states():
    session = anec.Session(anec.compile_text("""program(1.3) {
      func main<ios18>(state<tensor<fp16, [2, 3]>> k, tensor<fp16, [2, 3]> x) {
        tensor<fp16, [2, 3]> before = read_state(input = k);
        tensor<fp16, [2, 3]> y = add(x = before, y = x);
        write_state(data = y, input = k);
      } -> (y);
    }""", "sum.mil"))
    ramp = numpy.arange(6).reshape(2, 3)
    for dtype in ("<f2", ">f2", "<f4", ">f4", ">f8"):
        session.set_state("k", numpy.asfortranarray(ramp.astype(dtype)))
        session.run({"x": ramp.astype(">f8")[::-1][::-1]})
        into = numpy.zeros((4, 3), dtype)[::2]
        assert session.get_state("k", into) is into
        assert into.tolist() == (2.0 * ramp).tolist(), (dtype, into)
    fixed = numpy.zeros((2, 3))
    fixed.flags.writeable = False
    raises(ValueError, session.get_state, "k", fixed)
    raises(TypeError, session.get_state, "k", [[0] * 3] * 2)


def check_text():
    bytes_ = anec.Tokenizer()
    ids = bytes_.encode("abc")
    assert ids.dtype == numpy.int32 and ids.flags.writeable
    assert bytes_.encode("").shape == (0,) and bytes_.decode([]) == b""
    assert bytes_.decode(ids.astype(">i8")[::-1]) == b"cba"
    raises(TypeError, bytes_.decode, [97.5])
    raises(ValueError, bytes_.decode, [1 << 40])


def main():
    warnings.simplefilter("ignore", anec.Warning)
    rng = numpy.random.default_rng(SEED)
    sessions = [(shape, anec.Session(anec.compile_text(
        MIL.format(list(shape)), "identity.mil"))) for shape in SHAPES]
    counts = {"right": 0, "refused": 0}
    for index in range(COUNT):
        shape, session = sessions[index % len(sessions)]
        counts[check(session, rng, shape)] += 1
    for shape, session in sessions[1:]:
        check_refusals(session, shape)
    check_states()
    check_text()
    print(f"numpy {numpy.__version__}: {counts['right']} right, "
          f"{counts['refused']} refused")


if __name__ == "__main__":
    main()
