/**
 * A bundle in a fresh process: how long its import and its first call take.
 * Run as: node first-call.js BUNDLE EVENT_FILE; prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [bundle, eventFile] = process.argv.slice(2);
const event = JSON.parse(readFileSync(eventFile, 'utf8'));
const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 30_000 };
let status;
/** As much of Lambda as a streaming function uses. */
globalThis.awslambda = {
  streamifyResponse: (handler) => (given) =>
    handler(given, new Writable({ write: (_chunk, _encoding, done) => done() }), context),
  HttpResponseStream: {
    from(stream, prelude) {
      status = prelude.statusCode;
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
const answer = await handler(event, context);
const callMs = performance.now() - imported;
status ??= answer.statusCode;
print(`${JSON.stringify({ importMs: imported - begin, callMs, status })}\n`);
process.exit();
