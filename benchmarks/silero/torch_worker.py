"""Runs the ops of a Silero VAD model in PyTorch, eagerly, in fp32.

usage: torch_worker.py MODEL_FOLDER OUT.npy THREADS

Reads the weights of model.mil, writes `vad_output` of the recorded inputs to
OUT.npy, prints `ready`, and answers each line `N` on standard input with a JSON
list of N times in milliseconds.
"""

import json
import pathlib
import re
import struct
import sys
import time

import numpy
import torch
import torch.nn.functional as F

DTYPES = {1: numpy.float16, 2: numpy.float32, 3: numpy.uint8, 4: numpy.int8}
BLOB = re.compile(
    r"(\w+) = tensor<\w+, \[[^]]*\]>\(BLOBFILE\(.*?offset = [^(]*\((\d+)\)")


def unpack(kind, arrays):
    """The weights of a `const`, or what an op unpacks them to."""
    if kind == "const":
        return arrays["val"]
    if kind == "constexpr_affine_dequantize":
        quantized = arrays["quantized_data"]
        rows = quantized.reshape(len(arrays["scale"]), -1)
        return (rows - arrays.get("zero_point", numpy.zeros(1))[:, None]) * \
            arrays["scale"][:, None]
    if kind == "constexpr_lut_to_dense":
        # Two indices to a byte, the lower half first.
        packed = arrays["indices"].astype(numpy.uint8)
        indices = numpy.stack([packed & 15, packed >> 4], axis=1).ravel()
        return arrays["lut"][indices]
    sys.exit(f"error: weights in {kind}")


def constants(folder):
    """The arrays that model.mil names, by name, unpacked."""
    blob = (folder / "weights" / "weight.bin").read_bytes()

    def record(offset):
        header = struct.unpack_from("<IIQQ", blob, offset)
        dtype = numpy.dtype(DTYPES[header[1]])
        return numpy.frombuffer(blob, dtype, header[2] // dtype.itemsize,
                                header[3]).astype(numpy.float32)

    arrays = {}
    for name, kind, attributes in re.findall(
            r"> (\w+) = (const\w*)\(\)\[(.*BLOBFILE.*)\];",
            (folder / "model.mil").read_text()):
        parts = {key: record(int(offset))
                 for key, offset in BLOB.findall(attributes)}
        name = re.sub("_(quantized|palettized)$", "", name)
        arrays[name] = unpack(kind, parts).astype(numpy.float32).ravel()
    return arrays


class Model:
    def __init__(self, folder):
        arrays = constants(folder)

        def tensor(name, *shape):
            return torch.from_numpy(arrays[name].reshape(shape).copy())

        self.basis = tensor("stft_forward_basis_to_fp16", 258, 1, 256)
        shapes = {0: (128, 129, 1), 2: (64, 128, 2), 4: (64, 64, 2),
                  6: (128, 64, 1)}
        self.layers = [
            (tensor(f"encoder_layers_{n}_weight_to_fp16", outputs, inputs, 3),
             tensor(f"encoder_layers_{n}_bias_to_fp16", outputs), stride)
            for n, (outputs, inputs, stride) in shapes.items()]
        # MIL's gates are i, f, o, g; PyTorch's i, f, g, o.
        order = torch.cat([torch.arange(0, 256), torch.arange(384, 512),
                           torch.arange(256, 384)])
        self.lstm = torch.nn.LSTM(128, 128)
        with torch.no_grad():
            self.lstm.bias_ih_l0.copy_(tensor("concat_0", 512)[order])
            self.lstm.bias_hh_l0.zero_()
            self.lstm.weight_ih_l0.copy_(tensor("concat_1", 512, 128)[order])
            self.lstm.weight_hh_l0.copy_(tensor("concat_2", 512, 128)[order])
        self.final = tensor("decoder_final_conv_weight_to_fp16", 1, 128, 1)
        text = (folder / "model.mil").read_text()
        bias = re.search(r"decoder_final_conv_bias_to_fp16 = .*?\(\[(0x[^\]]+)",
                         text).group(1)
        self.final_bias = torch.tensor([float.fromhex(bias)])

    def __call__(self, audio, hidden, cell):
        x = F.pad(audio.unsqueeze(1), (0, 64), mode="reflect")
        x = F.conv1d(x, self.basis, stride=128)
        x = torch.sqrt(torch.pow(x[:, :129], 2) + torch.pow(x[:, 129:], 2) +
                       2.0 ** -24)
        for weight, bias, stride in self.layers:
            x = F.conv1d(x, weight, bias, stride=stride, padding=1)
            x = torch.clamp(torch.relu(x), max=10000)
        out, (hidden, cell) = self.lstm(
            x.permute(2, 0, 1), (hidden.unsqueeze(0), cell.unsqueeze(0)))
        x = F.conv1d(torch.relu(out.permute(1, 2, 0)), self.final,
                     self.final_bias)
        return torch.sigmoid(x), hidden.squeeze(0), cell.squeeze(0)


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(int(sys.argv[3]))
    model = Model(folder)
    inputs = [torch.from_numpy(numpy.load(folder / f"in_{name}.npy"))
              for name in ("audio_input", "hidden_state", "cell_state")]
    with torch.no_grad():
        numpy.save(sys.argv[2], model(*inputs)[0].numpy())
        print("ready", flush=True)
        for line in sys.stdin:
            times = []
            for _ in range(int(line)):
                start = time.perf_counter()
                model(*inputs)
                times.append((time.perf_counter() - start) * 1e3)
            print(json.dumps(times), flush=True)


main()
