"""A model in onnxruntime; speaks the protocol of interleaved.Worker.

usage: onnxruntime_worker.py THREADS FOLDER

FOLDER has model.onnx, ports.json ({inputs: {NAME: [TYPE, SHAPE]}, outputs: likewise})
and the inputs as NAME.onnx.bin; outputs go to NAME.onnx.out. Inputs are bound and
results written to memory that is there before a timed run.
"""

import json
import pathlib
import sys
import time

import numpy as np
import onnxruntime


def main():
    threads, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    ports = json.loads((folder / "ports.json").read_text())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options,
                                           providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, (type, shape) in ports["inputs"].items():
        array = np.fromfile(folder / f"{name}.onnx.bin", type).reshape(shape)
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    outputs = {}
    for name, (type, shape) in ports["outputs"].items():
        outputs[name] = onnxruntime.OrtValue.ortvalue_from_shape_and_type(
            shape, np.dtype(type))
        binding.bind_ortvalue_output(name, outputs[name])
    for _ in range(3):
        session.run_with_iobinding(binding)
    for name, value in outputs.items():
        value.numpy().tofile(folder / f"{name}.onnx.out")
    print("ready", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            session.run_with_iobinding(binding)
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps(times), flush=True)


main()
