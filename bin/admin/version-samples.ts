import { createClient, isApiError, type Client } from '../../clients/typescript/src/index.ts';
import { maxSamples, maxSamplePromptCharacters, type Sample } from '../../shared/identities/sample.ts';
import type { SampleFiles } from '../../shared/identities/sample-store.ts';
import { withSamples } from '../../shared/identities/store.ts';
import { maxVersionNumber } from '../../shared/identities/version.ts';
import { issueApiKey } from '../../shared/keys/manage.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import type { Answer } from '../common/output.ts';
import { id, line, repeated, wholeNumber } from '../common/values.ts';
import type { CommandRow, Session } from './command.ts';
import { getIdentity, getVersion } from './get-identity.ts';
import { getLicense } from './get-license.ts';
import { versionJson } from './identity-output.ts';
import { cleanSamples, openSamples, refuseWithdrawn, sampleFiles } from './identity-samples.ts';

interface SamplesOptions {
  license: string;
  prompt: string[];
  version?: number;
  seed: number;
}

const fewestSamples = 4;
const promptRule = `what one of them shows; repeat it for ${fewestSamples} to ${maxSamples}`;

export const samplesCommand: CommandRow = {
  name: 'samples',
  description:
    "have the service make a version's samples, on a license of yours: each is a request like any other, and is charged",
  operands: [['<identity>', 'its id or slug', id]],
  options: [
    ['--license <license>', 'the license that pays for them', id, { required: true }],
    ['--prompt <text>', promptRule, repeated(line(maxSamplePromptCharacters)), { required: true }],
    ['--version <version>', 'the version (default: the active one)', wholeNumber(1, maxVersionNumber)],
    [
      '--seed <seed>',
      'of the first; each further one has the next',
      wholeNumber(0, 4_000_000_000),
      { usual: 1 },
    ],
  ],
  run(options: SamplesOptions, name: string) {
    const { length } = options.prompt;
    if (length < fewestSamples || length > maxSamples) {
      throw usageFailure(`Give ${fewestSamples} to ${maxSamples} --prompt, not ${length}.`);
    }
    return (session) => makeSamples(session, name, options);
  },
};

async function makeSamples(session: Session, name: string, options: SamplesOptions): Promise<Answer> {
  const { stores, nowMs, baseUrl, bucketName } = session;
  if (baseUrl === null || bucketName === null) {
    throw usageFailure('The service makes the samples: name its stack with --stack, or start it here.');
  }
  const identity = await getIdentity(session, name);
  refuseWithdrawn(identity);
  const { number } = await getVersion(session, identity, options.version ?? identity.model?.number ?? 0);
  const license = await getLicense(session, options.license);
  const by = await session.operator();
  // It ends by itself where this command can't end it.
  const order = {
    license,
    name: 'identity samples',
    expiresAtMs: nowMs + 3600_000,
    monthlyCredits: null,
    by,
  };
  const { rawKey, key } = await issueApiKey(order, stores.apiKeys, nowMs);
  const client = createClient({ apiKey: rawKey, baseUrl });
  const store = await openSamples(bucketName);
  try {
    const of = { identityId: identity.identityId, identityVersion: number };
    const pictures = await paint(client, of, options);
    // All together, so that what fails before leaves no file.
    const putSamples = store.putter(identity.identityId, pictures);
    let replaced: Sample[] = [];
    const change = async () => {
      const now = await getIdentity(session, identity.identityId);
      refuseWithdrawn(now);
      const before = await getVersion(session, now, number);
      replaced = before.samples;
      return withSamples(now, { ...before, samples: await putSamples(replaced) });
    };
    const after = await stores.identities.change(identity.identityId, change, by, nowMs);
    await cleanSamples(session, after.identityId, replaced);
    const version = await getVersion(session, after, number);
    return {
      json: versionJson(version),
      text: `Version ${number} of ${after.name} has ${version.samples.length} samples.`,
    };
  } finally {
    store.close();
    await stores.apiKeys.revoke(key, Date.now(), by);
  }
}

async function paint(
  client: Client,
  of: { identityId: string; identityVersion: number },
  { prompt: prompts, seed }: SamplesOptions,
): Promise<SampleFiles[]> {
  const pictures: SampleFiles[] = [];
  for (const [i, prompt] of prompts.entries()) {
    const picture = await generate(client, { ...of, prompt, seed: seed + i });
    pictures.push(await sampleFiles(picture, prompt));
    process.stderr.write(`${i + 1} of ${prompts.length}: ${prompt}\n`);
  }
  return pictures;
}

/** @throws Failure in the service's words */
async function generate(client: Client, body: Parameters<Client['generate']>[0]): Promise<Uint8Array> {
  try {
    const { outputs } = await client.generate(body);
    const answer = await fetch(outputs[0]!);
    if (!answer.ok) throw new Failure(`A sample can't be fetched: its link answers ${answer.status}.`);
    return new Uint8Array(await answer.arrayBuffer());
  } catch (error) {
    if (isApiError(error)) throw new Failure(error.message, 1, { cause: error });
    throw error;
  }
}
