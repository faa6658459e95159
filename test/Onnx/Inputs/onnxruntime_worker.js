// Runs ONNX models with onnxruntime-node, for onnxruntime.py.
//
// A request is a line of JSON: the model, inputs with a file of raw elements each,
// a folder for outputs, and how often to run. The answer is a line of JSON: outputs,
// and times in milliseconds, or an error.

const fs = require('fs');
const path = require('path');
const readline = require('readline');
const ort = require('onnxruntime-node');

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, bool: Uint8Array,
};

function readTensor(input) {
  const bytes = fs.readFileSync(input.file);
  const buffer =
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return new ort.Tensor(input.type, new arrays[input.type](buffer), input.dims);
}

async function answer(request) {
  const session = await ort.InferenceSession.create(request.model, {
    intraOpNumThreads: request.threads, interOpNumThreads: 1,
    graphOptimizationLevel: request.optimize ? 'all' : 'disabled',
    logSeverityLevel: 4,
  });
  const feeds = {};
  for (const input of request.inputs)
    feeds[input.name] = readTensor(input);
  let results;
  const times = [];
  for (let i = 0; i < request.runs; ++i) {
    const start = performance.now();
    results = await session.run(feeds);
    times.push(performance.now() - start);
  }
  const outputs = session.outputNames.map((name, i) => {
    const {type, dims, data} = results[name];
    const file = path.join(request.folder, `out_${i}.bin`);
    fs.writeFileSync(
        file, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return {name, type, dims, file};
  });
  await session.release();
  return {outputs, times};
}

async function main() {
  for await (const line of readline.createInterface({input: process.stdin})) {
    let result;
    try {
      result = await answer(JSON.parse(line));
    } catch (error) {
      result = {error: String(error.message || error)};
    }
    console.log(JSON.stringify(result));
  }
}

main();
