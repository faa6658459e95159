"""Runs models with onnxruntime, by its package for Node.js: an optional peer.

`npm install onnxruntime-node` in a folder; ANEC_ONNXRUNTIME names that folder.
"""
import json
import os
import pathlib
import subprocess

import numpy

WORKER = pathlib.Path(__file__).parent / "onnxruntime_worker.js"


def is_installed():
    folder = os.environ.get("ANEC_ONNXRUNTIME")
    return bool(folder) and pathlib.Path(folder, "node_modules",
                                         "onnxruntime-node").is_dir()


class Refused(Exception):
    """What onnxruntime says about a model that it does not run."""


class Worker:
    """A process that runs models, started again if one ends it."""

    def __init__(self, folder, threads=1):
        self.folder, self.threads = pathlib.Path(folder), threads
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None

    def run(self, model, inputs, runs=1, optimize=True):
        """Outputs by name, and times in milliseconds."""
        request = {"model": str(model), "inputs": [], "runs": runs,
                   "folder": str(self.folder), "threads": self.threads,
                   "optimize": optimize}
        for position, (name, array) in enumerate(inputs.items()):
            if array.dtype == object:
                raise Refused("strings")
            file = self.folder / f"in_{position}.bin"
            file.write_bytes(numpy.ascontiguousarray(array).tobytes())
            request["inputs"].append(
                {"name": name, "type": str(array.dtype), "file": str(file),
                 "dims": list(array.shape)})
        answer = self.ask(request)
        if "error" in answer:
            raise Refused(answer["error"])
        outputs = {}
        for output in answer["outputs"]:
            if output["type"] == "string":
                raise Refused("strings")
            array = numpy.fromfile(output["file"], numpy.dtype(output["type"]))
            outputs[output["name"]] = array.reshape(
                [int(dim) for dim in output["dims"]])
        return outputs, answer["times"]

    def ask(self, request):
        if not self.process or self.process.poll() is not None:
            modules = os.path.join(os.environ["ANEC_ONNXRUNTIME"], "node_modules")
            self.process = subprocess.Popen(
                ["node", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True,
                env={**os.environ, "NODE_PATH": modules})
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.process = None
            return {"error": "onnxruntime ended its process"}
        return json.loads(line)

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
