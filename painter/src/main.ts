import { parseArgs } from 'node:util';
import { startPainter } from './server.ts';

/** Runs the painter alone: `node painter/src/main.ts --port 8080`. */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '8080' }, host: { type: 'string', default: '127.0.0.1' } },
});
const painter = await startPainter({ port: Number(values.port), host: values.host });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    void painter.close().then(() => process.exit(0));
  });
}
process.stdout.write(`The painter listens at ${painter.url}\n`);
