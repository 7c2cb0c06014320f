/**
 * One function as Lambda runs it: a process of its own, its bundle imported once, then one event after another.
 * Events come as lines of JSON; each is answered by a line with what the function returned, or with the bytes that it
 * streamed. The global for streaming writes what Lambda's own runtime writes.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

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

const { handler } = await import(process.argv[2]);
const send = (answer) => process.stdout.write(`@${JSON.stringify(answer)}\n`);
send({ ready: true, streams: streaming.has(handler) });

for await (const line of createInterface({ input: process.stdin })) {
  const event = JSON.parse(line);
  const context = { awsRequestId: 'test', getRemainingTimeInMillis: () => 30_000 };
  try {
    if (streaming.has(handler)) {
      const chunks = [];
      const stream = new Writable({
        write(chunk, _encoding, done) {
          chunks.push(chunk);
          done();
        },
      });
      await handler(event, stream, context);
      send({ streamed: Buffer.concat(chunks).toString('base64') });
    } else {
      send({ returned: (await handler(event, context)) ?? null });
    }
  } catch (error) {
    send({ failed: String(error) });
  }
}
