import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { factorsOf } from '../../bin/costs/model.ts';
import { defaultWorkload, usualImageBytes } from '../../bin/costs/workload.ts';
import { readConfiguration } from '../../lib/configuration.ts';
import { listen } from '../../local/http/server.ts';
import { demoIdentities } from '../../local/demo-data.ts';
import { startPainter } from '../../painter/src/server.ts';
import { modelEvent, type ModelOutput } from '../../shared/model/contract.ts';
import { plainIdentity, sampleRequest } from '../model-contract/sample-request.ts';

const imageBytes = usualImageBytes(1);
const factors = factorsOf(readConfiguration({}, 'A test'), { ...defaultWorkload, imageBytes });

test("the local painter's image of a megapixel and its preview are as large as bin/costs says, but for a twentieth", async () => {
  const sizes = await pictureSizes();
  const expected = { bytes: imageBytes, previewBytes: factors['bytes with preview'] - imageBytes };
  for (const of of ['bytes', 'previewBytes'] as const) {
    const average = sizes.reduce((sum, size) => sum + (size[of] ?? 0), 0) / sizes.length;
    expect([of, Math.abs(average / expected[of] - 1) <= 0.05 || average]).toEqual([of, true]);
  }
}, 300_000);

/** One picture of a megapixel in each style of the demo's identities, with its bytes and its preview's. */
async function pictureSizes(): Promise<ModelOutput[]> {
  const store = await listen(createServer((req, res) => req.resume().on('end', () => res.end())));
  const painter = await startPainter();
  const styles = Object.values(demoIdentities).flatMap((identity) => identity.painter?.style ?? []);
  const sizes = await Promise.all(styles.map((style) => sizeOf(painter.url, `${store.url}/image`, style)));
  await Promise.all([painter.close(), store.close()]);
  return sizes;
}

async function sizeOf(url: string, putUrl: string, style: unknown): Promise<ModelOutput> {
  const body = JSON.stringify({
    ...sampleRequest([{ putUrl, previewPutUrl: putUrl }]),
    prompt: 'a calm night over the mountains',
    numInferenceSteps: 30,
    width: 1024,
    height: 1024,
    identity: { ...plainIdentity, settings: { style } },
  });
  const answer = await (await fetch(`${url}/invocations`, { method: 'POST', body })).text();
  const closing = modelEvent.parse(JSON.parse(answer.trim().split('\n').at(-1)!));
  if (closing.event !== 'completed') throw new Error(answer);
  return closing.outputs[0]!;
}
