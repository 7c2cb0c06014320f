import type { Identity } from '../../shared/identities/identity.ts';
import { accessIsTakenAway, type CommandGroup, type Session } from './command.ts';
import type { OptionRow } from '../common/command-line.ts';
import { Failure } from '../common/failure.ts';
import { changedIdentity, identityLosses, newIdentity, type IdentityOptions } from './identity-change.ts';
import { listOf, type Answer } from '../common/output.ts';
import { identityAnswer, identityJson } from './identity-output.ts';
import { checkSlug, createCommand } from './identity-create.ts';
import { checkStoredAdapter } from './identity-adapter.ts';
import { checkSampleOptions, readSampleChange, type SampleOptions } from './identity-samples.ts';
import { maxSamplePromptCharacters, maxSamples } from '../../shared/identities/sample.ts';
import {
  id,
  jsonObject,
  line,
  nonEmpty,
  objectKey,
  oneOf,
  repeated,
  sha256,
  slug,
} from '../common/values.ts';

const examples = [
  'identity create aurora --adapter aurora-1.safetensors --dry-run',
  'identity put --name Aurora --slug aurora --description "Curtains of light." --catalog founding',
  'identity put --id idn_… --model-version 2 --adapter-key adapters/aurora-2.safetensors',
  'identity put --id idn_… --sample coast.png --sample-prompt "A quiet coast" --sample town.jpg --sample-prompt "A town"',
  'identity deactivate idn_…',
];

type PutOptions = IdentityOptions & SampleOptions;

const catalogs = 'founding: comes with every core plan; specialist: granted one by one';
const digest = 'what `sha256sum` says of the adapter: a container refuses any other file';
const ofSample = `a PNG, JPEG or WebP of what it generates; repeat it for up to ${maxSamples}, which replace those before`;
const samplePrompt = repeated(line(maxSamplePromptCharacters));
const ofModel = ['modelVersion', 'adapterKey', 'adapterSha256', 'settings'];

const putOptions: OptionRow[] = [
  ['--id <id>', 'the identity to change, or the id of a new one (default: a new id)', id],
  ['--name <name>', 'what people call it', line(100)],
  ['--slug <slug>', 'its name in addresses', slug],
  ['--description <text>', 'one sentence about it', line(500)],
  ['--catalog <catalog>', catalogs, oneOf(['founding', 'specialist'])],
  ['--product-photos', 'takes reference images of products'],
  ['--no-product-photos', 'takes none (as a new identity does)'],
  ['--model-version <version>', 'version of its model (default of a new one: 1)', line(100)],
  ['--adapter-key <s3key>', "its adapter's key in the bucket, below adapters/", objectKey],
  ['--no-adapter-key', 'the base model without an adapter'],
  ['--adapter-sha256 <hex>', digest, sha256],
  ['--settings <json>', 'a JSON object that the model is given as it is', jsonObject],
  ['--no-model', 'no active model', null, { conflicts: ofModel }],
  ['--sample <file>', ofSample, repeated(nonEmpty)],
  [
    '--sample-prompt <text>',
    'what generated the sample: one for each --sample, in their order',
    samplePrompt,
  ],
  ['--no-samples', 'remove its samples'],
];

export const identityCommands: CommandGroup = {
  name: 'identity',
  description: 'identities, the creator systems that generate images: make, change, list, deactivate',
  examples,
  commands: [
    createCommand,
    {
      name: 'put',
      description: 'make an identity, or change the one with --id: what is not given stays as it is',
      options: putOptions,
      asksBefore: accessIsTakenAway,
      run(options: PutOptions) {
        checkSampleOptions(options);
        const created = options.id === undefined ? newIdentity(options) : null;
        return (session) => putIdentity(session, options, created);
      },
    },
    { name: 'list', description: 'every identity, by name', run: () => list },
    {
      name: 'show',
      description: 'one identity',
      operands: [['<identity>', 'its id', id]],
      run: (_, identityId: string) => async (session) =>
        identityAnswer(await getIdentity(session, identityId)),
    },
    {
      name: 'deactivate',
      description:
        'take an identity its model: within 10 seconds requests for it are answered 503 IDENTITY_UNAVAILABLE',
      operands: [['<identity>', 'its id', id]],
      asksBefore: accessIsTakenAway,
      run: (_, identityId: string) => (session) => deactivate(session, identityId),
    },
  ],
};

async function putIdentity(session: Session, options: PutOptions, created: Identity | null): Promise<Answer> {
  const { stores, nowMs } = session;
  const all = await stores.identities.list();
  const before = all.find(({ identityId }) => identityId === options.id) ?? null;
  const changed = before === null ? (created ?? newIdentity(options)) : changedIdentity(before, options);
  checkSlug(all, changed);
  await checkStoredAdapter(session, before, changed);
  const samples = await readSampleChange(session, options);
  const losses = before === null ? [] : identityLosses(before, changed);
  if (losses.length > 0) await session.confirm({ what: `change the identity ${changed.identityId}`, losses });
  // Files come before the catalog that names them, and go after it: whatever is interrupted, no link is dead.
  const after = samples === null ? changed : { ...changed, samples: await samples.store(changed.identityId) };
  await stores.identities.put(after, await session.operator(), nowMs);
  await samples?.clean(before?.samples ?? [], after);
  return identityAnswer(after);
}

async function deactivate(session: Session, identityId: string): Promise<Answer> {
  const before = await getIdentity(session, identityId);
  if (before.model === null) return identityAnswer(before);
  const after = { ...before, model: null };
  const losses = identityLosses(before, after);
  await session.confirm({ what: `deactivate the identity ${identityId}`, losses });
  await session.stores.identities.put(after, await session.operator(), session.nowMs);
  // The model is stored nowhere else: the operator needs this to activate it again.
  const { json, text } = identityAnswer(after);
  const modelWas = JSON.stringify(before.model);
  return { json: { ...json, previousModel: before.model }, text: `${text}\n\nIts model was ${modelWas}.` };
}

async function list({ stores }: Session): Promise<Answer> {
  const identities = await stores.identities.list();
  return {
    json: { identities: identities.map(identityJson) },
    text: listOf(identities, columns, 'There are no identities.'),
  };
}

const columns = {
  IDENTITY: (identity: Identity) => identity.identityId,
  NAME: (identity: Identity) => identity.name,
  SLUG: (identity: Identity) => identity.slug,
  CATALOG: (identity: Identity) => identity.catalog,
  'PRODUCT PHOTOS': (identity: Identity) => (identity.productPhotos ? 'yes' : 'no'),
  SAMPLES: (identity: Identity) => identity.samples.length,
  MODEL: (identity: Identity) => identity.model?.version ?? 'none',
};

/** @throws Failure when there is none. */
export async function getIdentity(
  { stores }: Pick<Session, 'stores'>,
  identityId: string,
): Promise<Identity> {
  const identity = await stores.identities.get(identityId);
  if (identity === null) throw new Failure(`There is no identity ${identityId}.`);
  return identity;
}
