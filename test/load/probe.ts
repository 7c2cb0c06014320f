import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** What the service's process says of itself, one JSON line each time. */
export interface Sample {
  atMs: number;
  rssBytes: number;
  heapBytes: number;
  /** After a full collection, which not every sample pays for: what leaks grows here. */
  liveHeapBytes: number | null;
  /** Timers, sockets, files: what keeps the event loop busy. */
  resources: number;
  /** How late the event loop was since the last sample. */
  loopP99Ms: number;
  loopMaxMs: number;
}

/** Loaded into the service with `--import`, so that it is measured from within, everywhere in the same way. */
const { LOAD_SAMPLES: file, LOAD_SAMPLE_MS: everyMs } = process.env;
// Processes that the service starts are not measured.
for (const name of ['LOAD_SAMPLES', 'NODE_OPTIONS']) if (isMainThread) delete process.env[name];

/** How many samples there are to one collection. */
const samplesPerCollection = 6;

if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let samples = 0;
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    const isCollected = samples++ % samplesPerCollection === 0;
    if (isCollected) collect();
    const sample: Sample = {
      atMs: Date.now(),
      rssBytes: rss,
      heapBytes: heapUsed,
      liveHeapBytes: isCollected ? process.memoryUsage().heapUsed : null,
      resources: process.getActiveResourcesInfo().length,
      loopP99Ms: delay.percentile(99) / 1e6,
      loopMaxMs: delay.max / 1e6,
    };
    appendFileSync(file, `${JSON.stringify(sample)}\n`);
    // A collection holds the loop up, and is not the service's doing.
    delay.reset();
  }, Number(everyMs)).unref();
}
