// The layer in onnxruntime-node, fp32; speaks the protocol of
// interleaved.Worker.
//
// Usage: node onnxruntime_worker.js LAYER.onnx X.bin Y.bin THREADS

const fs = require('fs');
const readline = require('readline');
const ort = require('onnxruntime-node');

const [model, source, target, threads] = process.argv.slice(2);

async function main() {
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
  });
  const bytes = fs.readFileSync(source);
  const data = new Float32Array(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const feeds = {x: new ort.Tensor('float32', data, [1, 256, 768])};
  let results;
  for (let i = 0; i < 5; ++i)
    results = await session.run(feeds);
  fs.writeFileSync(target, Buffer.from(results.y.data.buffer));
  console.log('ready');
  for await (const line of readline.createInterface({input: process.stdin})) {
    const times = [];
    for (let i = 0; i < Number(line); ++i) {
      const start = performance.now();
      await session.run(feeds);
      times.push(performance.now() - start);
    }
    console.log(JSON.stringify(times));
  }
}

main().catch(error => {
  console.error(String(error));
  process.exit(1);
});
