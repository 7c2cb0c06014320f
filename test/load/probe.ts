import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** What the service's process says of itself, one JSON line each time. */
export interface Sample {
  atMs: number;
  rssMib: number;
  /** After a full collection: what leaks grows here. */
  heapMib: number;
  /** How late the event loop was, at most, since the last sample. */
  loopMaxMs: number;
}

/** Loaded into the service with `--import`, so that it is measured from within, everywhere in the same way. */
const { LOAD_SAMPLES: file } = process.env;
// Processes that the service starts are not measured.
for (const name of ['LOAD_SAMPLES', 'NODE_OPTIONS']) if (isMainThread) delete process.env[name];

const everyMs = 10_000;
const mib = 1024 * 1024;

if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  setInterval(() => {
    const rssMib = process.memoryUsage().rss / mib;
    const loopMaxMs = delay.max / 1e6;
    collect();
    const sample: Sample = {
      atMs: Date.now(),
      rssMib,
      heapMib: process.memoryUsage().heapUsed / mib,
      loopMaxMs,
    };
    appendFileSync(file, `${JSON.stringify(sample)}\n`);
    // A collection delays the event loop; that delay is the probe's, not the service's.
    delay.reset();
  }, everyMs).unref();
}
