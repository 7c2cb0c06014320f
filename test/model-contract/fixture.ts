import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import type { OutputFormat } from '../../shared/images/image-types.ts';
import { modelEvent } from '../../shared/model/contract.ts';
import { previewCacheControl, previewLimits } from '../../shared/images/previews.ts';
import type { ModelCompleted, ModelRequest } from '../../shared/model/contract.ts';
import { container, type RunningContainer } from './container.ts';
import { closings, invoke, stepsOf, type Exchange, type Watcher } from './invocation.ts';
import { readPicture, type ReadPicture } from './read-picture.ts';
import { sampleRequest } from './sample-request.ts';
import { startStore, type FilePlace, type OutputPlace, type Store } from './store.ts';
import type { Keep } from '../support/fixture.ts';

export type Changes = Partial<ModelRequest>;

export interface Picture extends ReadPicture {
  sha256: string;
  preview: ReadPicture;
}

/** A running container, a store for its links, and ways to ask it. */
export interface ContractFixture {
  running: RunningContainer;
  store: Store;
  /** Places for images, PNGs unless another format is named. */
  outputs(count: number, outputFormat?: OutputFormat): Promise<OutputPlace[]>;
  /** A request that fits the contract. */
  request(outputs: OutputPlace[], changes?: Changes): ModelRequest;
  /** Sends a request that fits, with one output unless places are given, and checks the form of the answer. */
  ask(changes?: Changes, outputs?: OutputPlace[], watcher?: Watcher): Promise<Exchange>;
  /** Asks for pictures and gets them: what the answer says of them is what lies in the store. */
  generate(changes?: Changes, count?: number): Promise<{ pictures: Picture[]; exchange: Exchange }>;
}

/** In every prompt, so that a log can be searched for it. */
export const promptMark = 'zebrawood';

export async function openContract(keep: Keep): Promise<ContractFixture> {
  const running = keep(await container.start());
  const store = keep(await startStore());
  const request: ContractFixture['request'] = (outputs, changes) => ({
    ...sampleRequest(outputs.map(({ url, preview }) => ({ putUrl: url, previewPutUrl: preview.url }))),
    prompt: `a quiet sea, ${promptMark}`,
    ...container.quick,
    ...changes,
  });
  const outputs: ContractFixture['outputs'] = (count, outputFormat) =>
    Promise.all(Array.from({ length: count }, () => store.output(undefined, { outputFormat })));
  const ask: ContractFixture['ask'] = async (changes, places, watcher) => {
    const body = request(places ?? (await outputs(1)), changes);
    let hungUp = false;
    const exchange = await invoke(running.url, body, {
      onEvent: (event, hangUp) =>
        watcher?.onEvent?.(event, () => {
          hungUp = true;
          hangUp();
        }),
    });
    expectForm(exchange, body, hungUp);
    return exchange;
  };
  return {
    running,
    store,
    outputs,
    request,
    ask,
    generate: async (changes, count = 1) => {
      const places = await outputs(count, changes?.outputFormat);
      const exchange = await ask(changes, places);
      return { exchange, pictures: await expectPictures(exchange, places, request(places, changes)) };
    },
  };
}

/** What holds for the answer to every request that fits the contract, however it ends. */
function expectForm(exchange: Exchange, request: ModelRequest, hungUp: boolean): void {
  const { numInferenceSteps: steps } = request;
  expect(exchange).toMatchObject({ status: 200, contentType: 'application/x-ndjson' });
  // A request may end before it has started, and before it has waited.
  const names = exchange.events.map(({ event }) => event).join(' ');
  const waits = request.tenant === undefined ? 'started' : '(queued ?)*(started)?';
  expect(names).toMatch(new RegExp(`^${waits}( progress)*( ?(completed|failed))?$`));
  expect(names).not.toMatch(/(queued|^) ?(progress|completed)/);
  for (const event of exchange.events) {
    expect([event, modelEvent.safeParse(event).success]).toEqual([event, true]);
    if (event.event === 'progress') expect(event).toEqual({ event: 'progress', step: event.step, steps });
    if (event.event === 'failed') expectNoLink(event.message);
  }
  const reached = stepsOf(exchange);
  expect(reached).toEqual(reached.toSorted((a, b) => a - b));
  expect(Math.max(0, ...reached)).toBeLessThanOrEqual(steps);
  if (hungUp) return;
  expect(exchange.whole).toBe(true);
  expect(closings(exchange)).toEqual([exchange.closing]);
  expect(exchange.closing!.event).not.toBe('ready');
}

/** A signed link opens a file for whoever reads it, wherever it is written. */
export function expectNoLink(text: string): void {
  expect(text).not.toMatch(/:\/\/|Signature|127\.0\.0\.1/);
}

/** What holds for every request that completes. */
async function expectPictures(
  { closing }: Exchange,
  places: OutputPlace[],
  { width, height, outputFormat, references, embedParameters }: ModelRequest,
): Promise<Picture[]> {
  expect(closing).toMatchObject({ event: 'completed', referenceImagesUsed: references.length });
  const { outputs } = closing as ModelCompleted;
  expect(outputs).toHaveLength(places.length);
  return Promise.all(
    places.map(async (place, i) => {
      const { bytes, contentType } = (await place.read())!;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const preview = await expectPreview(place.preview, { width, height });
      const previewBytes = preview.file.length;
      expect(outputs[i]).toEqual({ bytes: bytes.length, sha256, width, height, previewBytes });
      expect([contentType, place.attempts()]).toEqual([`image/${outputFormat}`, 1]);
      const picture = await readPicture(bytes);
      expect(picture).toMatchObject({ format: outputFormat, width, height });
      if (!embedParameters) expect(preview.xmp).toEqual(picture.xmp);
      return { sha256, ...picture, preview };
    }),
  );
}

async function expectPreview(
  place: FilePlace,
  { width, height }: { width: number; height: number },
): Promise<ReadPicture> {
  const { bytes, contentType, cacheControl } = (await place.read())!;
  expect([contentType, cacheControl, place.attempts()]).toEqual(['image/webp', previewCacheControl, 1]);
  expect(bytes.length).toBeLessThanOrEqual(previewLimits.maxBytes);
  const picture = await readPicture(bytes);
  const shrunk = Math.min(1, previewLimits.maxSidePx / Math.max(width, height));
  const size = { width: Math.round(width * shrunk), height: Math.round(height * shrunk) };
  expect(picture).toMatchObject({ format: 'webp', ...size });
  return picture;
}
