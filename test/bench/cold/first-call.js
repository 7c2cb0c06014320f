/**
 * A bundle in a fresh process: how long its import takes, its first call, and calls after that.
 * Run as: node first-call.js BUNDLE EVENT_FILE CALLS; prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [bundle, eventFile, calls] = process.argv.slice(2);
const event = readFileSync(eventFile, 'utf8');
const streaming = new WeakSet();
globalThis.awslambda = {
  streamifyResponse(handler) {
    streaming.add(handler);
    return handler;
  },
  HttpResponseStream: {
    from(stream, prelude) {
      stream.write(JSON.stringify(prelude));
      stream.write(new Uint8Array(8));
      return stream;
    },
  },
};
// What a function logs goes where its log goes, not among the figures.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;

const begin = performance.now();
const { handler } = await import(pathToFileURL(bundle).href);
const imported = performance.now();

const first = await call();
const firstDone = performance.now();
const warmMs = [];
for (let i = 1; i < Number(calls); i++) {
  const called = performance.now();
  await call();
  warmMs.push(performance.now() - called);
}
const status = streaming.has(handler) ? statusOf(first) : (first?.statusCode ?? null);
const figures = {
  importMs: imported - begin,
  callMs: firstDone - imported,
  warmMs,
  // `resourceUsage().maxRSS` would tell of the process that started this one, if that was larger.
  rssMb: Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024,
};
print(
  `${JSON.stringify({ ...figures, status, answer: String(status === null ? JSON.stringify(first) : '') })}\n`,
);
process.exit();

async function call() {
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 30_000 };
  const given = JSON.parse(event);
  if (!streaming.has(handler)) return handler(given, context);
  const chunks = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  await handler(given, stream, context);
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
}

function statusOf(bytes) {
  return JSON.parse(bytes.subarray(0, bytes.indexOf(Buffer.alloc(8))).toString()).statusCode;
}
