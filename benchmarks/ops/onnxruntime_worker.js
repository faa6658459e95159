// A model in onnxruntime-node; speaks the protocol of interleaved.Worker.
//
// Usage: node onnxruntime_worker.js THREADS FOLDER
//
// FOLDER has model.onnx, ports.json ({inputs: {NAME: [TYPE, SHAPE]}, outputs:
// likewise}) and the inputs as NAME.onnx.bin; outputs go to NAME.onnx.out.
// Results are written to memory that is there before a timed run.

const fs = require('fs');
const path = require('path');
const readline = require('readline');
const ort = require('onnxruntime-node');

const [threads, folder] = process.argv.slice(2);
const ARRAYS = {float32: Float32Array, int64: BigInt64Array, bool: Uint8Array};

function count(shape) {
  return shape.reduce((product, extent) => product * extent, 1);
}

async function main() {
  const ports = JSON.parse(fs.readFileSync(path.join(folder, 'ports.json')));
  const session =
      await ort.InferenceSession.create(path.join(folder, 'model.onnx'), {
        intraOpNumThreads: Number(threads),
        interOpNumThreads: 1,
        graphOptimizationLevel: 'all',
        executionMode: 'sequential',
      });
  const feeds = {}, fetches = {};
  for (const [name, [type, shape]] of Object.entries(ports.inputs)) {
    const bytes = fs.readFileSync(path.join(folder, name + '.onnx.bin'));
    const data = new ARRAYS[type](
        bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    feeds[name] = new ort.Tensor(type, data, shape);
  }
  for (const [name, [type, shape]] of Object.entries(ports.outputs))
    fetches[name] = new ort.Tensor(type, new ARRAYS[type](count(shape)), shape);
  let results;
  for (let i = 0; i < 3; ++i)
    results = await session.run(feeds, fetches);
  for (const name of Object.keys(ports.outputs)) {
    const data = results[name].data;
    fs.writeFileSync(
        path.join(folder, name + '.onnx.out'),
        Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
  console.log('ready');
  for await (const line of readline.createInterface({input: process.stdin})) {
    const times = [];
    for (let i = 0; i < Number(line); ++i) {
      const start = performance.now();
      await session.run(feeds, fetches);
      times.push(performance.now() - start);
    }
    console.log(JSON.stringify(times));
  }
}

main().catch(error => {
  console.error(String(error));
  process.exit(1);
});
