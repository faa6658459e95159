"""Images, recurrent layers, signals and losses; see _onnx_draw.py."""
import numpy as np

from _onnx_draw import Case, of

@of("Resize")
def resize(r, op, v):
    x = r.floats([1, r.int(1, 2), r.int(2, 6), r.int(2, 6)], np.float32)
    mode = r.pick(["nearest", "linear"] + (["cubic"] if v >= 11 else []))
    scales = [1.0, 1.0, r.pick([0.5, 0.6, 1.5, 2.0, 2.5, 0.7, 3.0]),
              r.pick([0.5, 0.6, 1.5, 2.0, 2.5, 0.7, 3.0])]
    if v < 11:
        return Case([x, np.array(scales, np.float32)], {"mode": mode}, fixed=(1,))
    coordinates = ["half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners",
                   "tf_crop_and_resize"] + (["half_pixel_symmetric"] if v >= 19 else [])
    attributes = {"mode": mode, **r.some(coordinate_transformation_mode=r.pick(coordinates))}
    # onnxruntime takes the length in these for a whole number, ONNX's cases do not.
    if attributes.get("coordinate_transformation_mode") in (
            "align_corners", "pytorch_half_pixel", "tf_crop_and_resize"):
        scales[2:] = [r.pick([2.0, 3.0]) for _ in "hw"]
    crop = attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    if crop and mode == "cubic":  # which onnxruntime reads beyond the part
        del attributes["coordinate_transformation_mode"]
        crop = False
    if mode == "nearest":
        attributes.update(r.some(nearest_mode=r.pick(
            ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])))
    if mode == "cubic":
        attributes.update(r.some(cubic_coeff_a=-0.5, exclude_outside=r.int(0, 1)))
    roi = np.array([0, 0, 0.1, 0.2, 1, 1, 0.8, 1.2], np.float32) if crop else None
    if crop:
        attributes.update(r.some(extrapolation_value=2.0))
    if v >= 18 and mode != "nearest" and not crop:
        attributes.update(r.some(antialias=1))
    empty = np.zeros([0], np.float32) if v < 13 else None
    if r.chance(0.5):
        inputs = [x, roi if crop else empty, np.array(scales, np.float32)]
    else:
        sizes = np.array([1, x.shape[1], r.int(1, 9), r.int(1, 9)], np.int64)
        inputs = [x, roi if crop else empty, empty, sizes]
    if v >= 18 and r.chance(0.4):
        attributes["axes"] = [2, 3]
        inputs = [x, None if roi is None else roi[[2, 3, 6, 7]]] + \
            [a if a is None or a.size == 0 else a[2:] for a in inputs[2:]]
        if len(inputs) == 4:
            attributes.update(r.some(keep_aspect_ratio_policy=r.pick(
                ["stretch", "not_larger", "not_smaller"])))
    return Case(inputs, attributes, fixed=(1, 2, 3))


@of("DeformConv")
def deform_conv(r, op, v):
    group, parts = r.int(1, 2), r.int(1, 2)
    channels, out = 2 * group * r.int(1, 2), group * r.int(1, 2)
    kernel, pads = [r.int(1, 3), r.int(1, 3)], [r.int(0, 1) for _ in range(4)]
    strides, dilations = ([r.int(1, 2), r.int(1, 2)] for _ in range(2))
    x = r.floats([r.int(1, 2), channels, r.int(5, 8), r.int(5, 8)], np.float32)
    extents = [(x.shape[2 + i] + pads[i] + pads[2 + i] - dilations[i] * (kernel[i] - 1) - 1)
               // strides[i] + 1 for i in range(2)]
    elements = parts * kernel[0] * kernel[1]
    inputs = [x, r.floats([out, channels // group] + kernel, np.float32),
              r.floats([x.shape[0], 2 * elements] + extents, np.float32),
              r.floats([out], np.float32) if r.chance(0.5) else None]
    if r.chance(0.5):
        inputs.append(r.floats([x.shape[0], elements] + extents, np.float32))
    return Case(inputs, {"group": group, "offset_group": parts, "pads": pads,
                         "strides": strides, "dilations": dilations, **r.some(
                             kernel_shape=kernel)})


@of("Upsample")
def upsample(r, op, v):
    x = r.floats([1, r.int(1, 2), r.int(2, 5), r.int(2, 5)], np.float32)
    # onnxruntime copies what keeps its shape, whatever the scales are.
    scales = [1.0, 1.0, r.pick([1.5, 2.0, 3.0]), r.pick([1.0, 1.3, 2.0])]
    attributes = r.some(mode=r.pick(["nearest", "linear"]))
    if v < 9:
        return Case([x], {**attributes, "scales": scales})
    return Case([x, np.array(scales, np.float32)], attributes, fixed=(1,))


@of("GridSample")
def grid_sample(r, op, v):
    x = r.floats([r.int(1, 2), r.int(1, 2), r.int(2, 5), r.int(2, 5)], np.float32)
    grid = r.floats([x.shape[0], r.int(1, 4), r.int(1, 4), 2], np.float32, -1.3, 1.3)
    modes = ["bilinear", "nearest", "bicubic"] if v < 20 else ["linear", "nearest", "cubic"]
    return Case([x, grid], r.some(
        mode=r.pick(modes), align_corners=r.int(0, 1),
        padding_mode=r.pick(["zeros", "border", "reflection"])))


@of("AffineGrid")
def affine_grid(r, op, v):
    n = r.int(1, 2)
    return Case([r.floats([n, 2, 3], np.float32),
                 # Of one element between the corners, everybody has another place.
                 np.array([n, 1, r.int(2, 4), r.int(2, 4)], np.int64)],
                r.some(align_corners=r.int(0, 1)))


@of("RoiAlign")
def roi_align(r, op, v):
    x = r.floats([2, r.int(1, 2), r.int(4, 8), r.int(4, 8)], np.float32)
    count = r.int(1, 3)
    corner = r.floats([count, 2], np.float32, 0, 4)
    boxes = np.concatenate([corner, corner + r.floats([count, 2], np.float32, 0.5, 4)], 1)
    attributes = {"output_height": r.int(1, 3), "output_width": r.int(1, 3),
                  "sampling_ratio": r.int(0, 2),
                  **r.some(spatial_scale=0.5, mode=r.pick(["avg", "max"]))}
    if v >= 16:
        attributes.update(r.some(coordinate_transformation_mode=r.pick(
            ["half_pixel", "output_half_pixel"])))
    return Case([x, boxes, r.ints([count], np.int64, 0, 1)], attributes)


@of("NonMaxSuppression")
def non_max_suppression(r, op, v):
    n = r.int(2, 6)
    corner = r.floats([1, n, 2], np.float32, 0, 4)
    boxes = np.concatenate([corner, corner + r.floats([1, n, 2], np.float32, 0.5, 3)], 2)
    scores = r.floats([1, r.int(1, 2), n], np.float32, 0, 1)
    most = r.pick([1, 3, n, 2**63 - 1])
    inputs = [boxes, scores, np.array([most], np.int64)]
    if r.chance(0.7):
        inputs.append(np.array([0.3], np.float32))
        if r.chance(0.6):
            inputs.append(np.array([0.2], np.float32))
    return Case(inputs, r.some(center_point_box=r.int(0, 1)))


# Layers, signals, losses.

@of("RNN", "GRU", "LSTM")
def recurrent(r, op, v):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    steps, batch, width, hidden = r.int(1, 4), r.int(1, 3), r.int(1, 4), r.int(1, 4)
    direction = r.pick(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    layout = r.int(0, 1) if v >= 14 and r.chance(0.3) else 0
    x = [batch, steps, width] if layout else [steps, batch, width]
    state = [batch, d, hidden] if layout else [d, batch, hidden]
    f = lambda *shape: r.floats(list(shape), np.float32)
    inputs = [f(*x), f(d, gates * hidden, width), f(d, gates * hidden, hidden)]
    if r.chance(0.6):
        inputs.append(f(d, 2 * gates * hidden))
        if r.chance(0.6):
            lengths = r.ints([batch], np.int32, 1, steps)
            lengths[r.int(0, batch - 1)] = steps
            # onnxruntime has none with `layout`.
            inputs.append(lengths if not layout and r.chance(0.5) else None)
            inputs.append(f(*state))
            if op == "LSTM" and r.chance(0.6):
                inputs.append(f(*state))
                if r.chance(0.5):
                    inputs.append(f(d, 3 * hidden))
    attributes = {"hidden_size": hidden}
    if d == 2 or direction == "reverse" or r.chance(0.5):
        attributes["direction"] = direction
    if layout:
        attributes["layout"] = 1
    if op == "GRU":
        attributes.update(r.some(linear_before_reset=r.int(0, 1)))
    if r.chance(0.3):
        per = {"RNN": ["Relu"], "GRU": ["Sigmoid", "Relu"],
               "LSTM": ["Sigmoid", "Relu", "Tanh"]}[op]
        attributes["activations"] = per * d
    return Case(inputs, attributes, {"RNN": 2, "GRU": 2, "LSTM": 3}[op])


@of("DFT")
def dft(r, op, v):
    x = r.floats([r.int(1, 2), r.int(2, 6), r.int(2, 6), r.int(1, 2)], np.float32)
    axis = r.int(1, 2)
    attributes = {}
    if x.shape[-1] == 1:
        attributes.update(r.some(onesided=r.int(0, 1)))
    elif r.chance(0.4):
        attributes["inverse"] = 1
    inputs = [x]
    if r.chance(0.4):
        inputs.append(np.array(r.int(2, 7), np.int64))
    if v < 20:
        attributes["axis"] = axis
    else:
        inputs += [None] * (2 - len(inputs)) + [np.array(axis, np.int64)]
    return Case(inputs, attributes)


@of("STFT")
def stft(r, op, v):
    x = r.floats([r.int(1, 2), r.int(12, 20), 1], np.float32)
    length = r.int(3, 8)
    inputs = [x, np.array(r.int(1, 4), np.int64)]
    if r.chance(0.5):
        inputs += [r.floats([length], np.float32)]
        if r.chance(0.5):
            inputs += [np.array(length, np.int64)]
    else:
        inputs += [None, np.array(length, np.int64)]
    return Case(inputs, r.some(onesided=r.int(0, 1)))


@of("HannWindow", "HammingWindow", "BlackmanWindow")
def window(r, op, v):
    return Case([np.array(r.int(2, 12), np.int64)],
                r.some(periodic=r.int(0, 1), output_datatype=1))


@of("MelWeightMatrix")
def mel(r, op, v):
    return Case([np.array(r.int(2, 8), np.int64), np.array(r.pick([16, 32]), np.int64),
                 np.array(8192, np.int64), np.array(0.0, np.float32),
                 np.array(4000.0, np.float32)], r.some(output_datatype=1))


@of("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(r, op, v):
    x = r.floats([r.int(1, 3), r.int(2, 4)] + r.shape(0, 2, 3), np.float32)
    targets = r.ints([x.shape[0]] + list(x.shape[2:]), np.int64, 0, x.shape[1] - 1)
    inputs = [x, targets]
    if r.chance(0.4):
        inputs.append(r.floats([x.shape[1]], np.float32, 0.5, 2))
    attributes = r.some(reduction=r.pick(["none", "sum", "mean"]),
                        ignore_index=r.pick([0, -1, 1]))
    outputs = r.int(1, 2) if op == "SoftmaxCrossEntropyLoss" else 1
    if attributes.get("ignore_index") in (0, 1):
        targets.reshape(-1)[0] = 1 - attributes["ignore_index"]
    return Case(inputs, attributes, outputs)
