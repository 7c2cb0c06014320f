import { S3Client, DeleteObjectCommand } from '@aws-sdk/client-s3';
import { linkSigner } from '../shared/images/link-signer.ts';
import { sampleStore, type SampleFiles } from '../shared/identities/sample-store.ts';
import { readLink } from '../shared/images/signed-links.ts';
import type { ModelRequest } from '../shared/model/contract.ts';
import type { Identity } from '../shared/identities/identity.ts';
import { identityStore, withSamples } from '../shared/identities/store.ts';
import { promptOf } from '../shared/identities/version.ts';
import { openTable } from '../shared/table/table.ts';
import { readServiceFile, writeServiceFile, type DataFolder } from './data-folder.ts';
import { demoActor, demoSamples, type DemoSample } from './demo-data.ts';

export interface DemoSamplesOptions {
  painterUrl: string;
  tableName: string;
  bucketName: string;
  /** Ids of the demo data's identities, by name. */
  identities: Record<string, string>;
}

/** Makes the samples beside a service that serves already, if no start of this folder has made them all. */
export function startDemoSamples(
  folder: DataFolder,
  options: DemoSamplesOptions,
  onNotice: (sentence: string) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const make = async (): Promise<void> => {
    if (readServiceFile(folder).hasSamples) return;
    await makeDemoSamples(options, stopping.signal);
    // Once only: an operator may take the samples away.
    writeServiceFile(folder, { ...readServiceFile(folder), hasSamples: true });
  };
  const making = make().catch((error: unknown) => {
    if (stopping.signal.aborted) return;
    onNotice(
      `The demo identities have not all their samples: ${(error as Error).message}. The next start tries again.`,
    );
  });
  return {
    stop() {
      stopping.abort(new Error('the service stops'));
      return making;
    },
  };
}

/** A sample with what the painter gets for its prompt. */
interface PaintedSample extends DemoSample {
  words: string;
}

/** A version that is not active any more shows fewer. */
const samplesOfOlder = 2;

/** A sample takes a second; a busy machine may take much longer. */
const withinMs = 120_000;

/**
 * Makes the samples of the demo identities, one after the other, so that callers' own pictures do not wait. They come straight
 * from the painter: no license is charged and no request is stored. Identities that have samples already keep them.
 * @throws when the painter or an engine fails, and when `signal` aborts; a repeat does what is left.
 */
async function makeDemoSamples(options: DemoSamplesOptions, signal: AbortSignal): Promise<void> {
  const catalog = identityStore(openTable(options.tableName));
  const samples = sampleStore(options.bucketName);
  const painter = samplePainter(options);
  try {
    for (const [name, wanted] of Object.entries(demoSamples)) {
      const identityId = options.identities[name]!;
      if ((await catalog.get(identityId))?.samples.length !== 0) continue;
      for (const [i, version] of (await catalog.versions(identityId)).entries()) {
        const files: SampleFiles[] = [];
        // Without what only pretends, such as a delay.
        const settings = { style: version.settings.style };
        for (const sample of i === 0 ? wanted : wanted.slice(0, samplesOfOlder)) {
          const words = promptOf(version.words, sample.prompt);
          files.push(await painter.paint(name, { ...sample, words }, settings, signal));
        }
        const made = await samples.putter(identityId, files)([]);
        const change = (before: Identity | null) => withSamples(before!, { ...version, samples: made });
        await catalog.change(identityId, change, demoActor);
      }
    }
  } finally {
    samples.close();
    painter.close();
  }
}

function samplePainter({ painterUrl, bucketName }: DemoSamplesOptions) {
  const client = new S3Client({});
  const sign = linkSigner(client, bucketName);
  const link = (method: 'GET' | 'PUT', key: string) => sign(method, key, { lifetimeSeconds: 600 });
  // The painter puts its files to links. They are moved to their names once their content is known.
  const keys = ['uploads/demo-sample.webp', 'uploads/demo-sample-thumbnail.webp'];

  return {
    /** @returns the painter's picture and its preview, which is the thumbnail. */
    async paint(
      name: string,
      sample: PaintedSample,
      settings: Record<string, unknown>,
      signal: AbortSignal,
    ): Promise<SampleFiles> {
      const [putUrl, previewPutUrl] = await Promise.all(keys.map((key) => link('PUT', key)));
      const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
      const outputs = [{ putUrl: putUrl!, previewPutUrl: previewPutUrl! }];
      await invoke(painterUrl, { ...requestFor(name, sample, settings), outputs }, within);
      const [picture, thumbnail] = await Promise.all(
        keys.map(async (key) => readLink(await link('GET', key), within)),
      );
      await Promise.all(keys.map((Key) => client.send(new DeleteObjectCommand({ Bucket: bucketName, Key }))));
      if (!picture || !thumbnail) throw new Error(`the painter put no files for a sample of ${name}`);
      const { prompt, widthPx, heightPx } = sample;
      return { picture, thumbnail, prompt, widthPx, heightPx };
    },
    close: () => client.destroy(),
  };
}

function requestFor(
  name: string,
  sample: PaintedSample,
  settings: Record<string, unknown>,
): Omit<ModelRequest, 'outputs'> {
  const { words: prompt, seed, widthPx: width, heightPx: height } = sample;
  return {
    requestId: `sample-${name}`,
    tenant: 'demo-samples',
    deadline: new Date(Date.now() + withinMs).toISOString(),
    prompt,
    negativePrompt: '',
    seed,
    numInferenceSteps: 30,
    guidanceScale: 7.5,
    width,
    height,
    numOutputs: 1,
    outputFormat: 'webp',
    embedParameters: false,
    referenceMode: 'reference',
    preserveBranding: false,
    references: [],
    identity: { id: name, adapterUrl: null, adapterVersion: null, version: 1, adapterSha256: null, settings },
  };
}

/** The answer is one event a line, and the last one says how it ended (shared/model/contract.ts). */
async function invoke(painterUrl: string, request: ModelRequest, signal: AbortSignal): Promise<void> {
  const answer = await fetch(`${painterUrl}/invocations`, {
    method: 'POST',
    body: JSON.stringify(request),
    signal,
  });
  const last = (await answer.text()).trim().split('\n').at(-1) ?? '';
  if (!answer.ok || JSON.parse(last).event !== 'completed') {
    throw new Error(`the painter answered a sample with ${last.slice(0, 200)}`);
  }
}
