import type { Identity } from '../../shared/identities/identity.ts';
import {
  identityByName,
  SlugTaken,
  withSamples,
  type IdentityChange,
} from '../../shared/identities/store.ts';
import { activeVersion } from '../../shared/identities/version.ts';
import { accessIsTakenAway, type CommandGroup, type Session } from './command.ts';
import type { OptionRow } from '../common/command-line.ts';
import { changedIdentity, identityLosses, newIdentity, type IdentityOptions } from './identity-change.ts';
import { Failure } from '../common/failure.ts';
import { listOf, type Answer } from '../common/output.ts';
import { getIdentity } from './get-identity.ts';
import { activatedAnswer, identityAnswer, identityJson } from './identity-output.ts';
import { adapterOf, checkSlug, createCommand, slugTaken } from './identity-create.ts';
import { checkStoredAdapter } from './identity-adapter.ts';
import {
  checkSampleOptions,
  readSampleChange,
  refuseWithdrawn,
  type SampleOptions,
} from './identity-samples.ts';
import { rightsOptions, versionCommands } from './identity-versions.ts';
import { samplesCommand } from './version-samples.ts';
import { maxSamplePromptCharacters, maxSamples } from '../../shared/identities/sample.ts';
import type { PutSamples } from '../../shared/identities/sample-store.ts';
import {
  id,
  jsonObject,
  line,
  nonEmpty,
  objectKey,
  oneOf,
  repeated,
  sha256,
  size,
  slug,
} from '../common/values.ts';

const examples = [
  'identity create aurora --adapter aurora-1.safetensors --dry-run',
  'identity put --name Aurora --slug aurora --description "Curtains of light." --catalog founding',
  'identity put --id aurora --adapter aurora-2.safetensors --note "Trained on more nights"',
  'identity put --id aurora --template "{prompt}, in the manner of qx7" --trigger qx7',
  'identity put --id aurora --sample coast.png --sample-prompt "A quiet coast" --sample town.jpg --sample-prompt "A town"',
  'identity versions aurora',
  'identity activate aurora 1',
  'identity samples aurora --license lic_… --prompt "A quiet coast" --prompt "A town" --prompt "Snow" --prompt "A harbor"',
  'identity takedown aurora --reason "The creator took consent back"',
];

type PutOptions = IdentityOptions & SampleOptions & { adapter?: string };

const catalogs = 'founding: comes with every core plan; specialist: granted one by one';
const digest = 'what `sha256sum` says of the adapter: a container refuses any other file';
const ofSample = `a PNG, JPEG or WebP of what it generates; repeat it for up to ${maxSamples}, which replace those before`;
const samplePrompt = repeated(line(maxSamplePromptCharacters));
const ofVersion = [
  'note',
  'adapter',
  'adapterKey',
  'adapterSha256',
  'settings',
  'trigger',
  'template',
  'negativePrompt',
  'size',
];

const putOptions: OptionRow[] = [
  ['--id <id>', 'the identity to change, by id or slug, or the id of a new one (default: a new id)', id],
  ['--name <name>', 'what people call it', line(100)],
  ['--slug <slug>', 'its name in addresses', slug],
  ['--description <text>', 'one sentence about it', line(500)],
  ['--catalog <catalog>', catalogs, oneOf(['founding', 'specialist'])],
  ['--product-photos', 'takes reference images of products'],
  ['--no-product-photos', 'takes none (as a new identity does)'],
  [
    '--adapter <file>',
    'its adapter, a .safetensors file, which is checked and uploaded',
    nonEmpty,
    { conflicts: ['adapterKey', 'adapterSha256'] },
  ],
  ['--adapter-key <s3key>', "its adapter's key in the bucket, below adapters/", objectKey],
  ['--no-adapter-key', 'the base model without an adapter'],
  ['--adapter-sha256 <hex>', digest, sha256],
  ['--settings <json>', 'a JSON object that the model is given as it is', jsonObject],
  ['--trigger <words>', 'words that call up what the adapter has learnt; repeat it', repeated(line(100))],
  ['--no-trigger', 'no such words'],
  ['--show-triggers', 'callers may read those words'],
  ['--no-show-triggers', 'they may not (as in a first version)'],
  ['--template <text>', 'what the model gets for a prompt, which stands at {prompt}', line(300)],
  ['--no-template', 'it gets the prompt as it is'],
  ['--negative-prompt <text>', 'the negative prompt of requests that send none', line(500)],
  ['--no-negative-prompt', 'those have none'],
  ['--size <size>', 'the size of requests that name none (default: 1024x1024)', size],
  ['--no-size', 'they get the default'],
  ['--note <text>', 'what is new in this version', line(500)],
  ...rightsOptions,
  ['--no-model', 'no active version', null, { conflicts: ofVersion }],
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
  description:
    'identities, the creator systems that generate images: make, change and list them, and their versions',
  examples,
  commands: [
    createCommand,
    {
      name: 'put',
      description:
        'make an identity, or change the one with --id: what is not given stays as it is, and what would change a picture makes another version',
      options: putOptions,
      asksBefore: accessIsTakenAway,
      run(options: PutOptions) {
        checkSampleOptions(options);
        if (options.id === undefined) newIdentity(options, 0);
        return (session) => putIdentity(session, options);
      },
    },
    { name: 'list', description: 'every identity, by name', run: () => list },
    {
      name: 'show',
      description: 'one identity',
      operands: [['<identity>', 'its id or slug', id]],
      run: (_, name: string) => async (session) => identityAnswer(await getIdentity(session, name)),
    },
    ...versionCommands,
    samplesCommand,
  ],
};

async function putIdentity(session: Session, given: PutOptions): Promise<Answer> {
  const { stores, nowMs } = session;
  const adapter = given.adapter === undefined ? null : await adapterOf(session, given.adapter);
  const options = {
    ...given,
    ...adapter?.stored,
  };
  const all = await stores.identities.list();
  const before = options.id === undefined ? null : await identityByName(stores.identities, options.id);
  const made = before === null ? newIdentity(options, nowMs) : changedIdentity(before, options, nowMs);
  const { identityId } = made.identity;
  checkSlug(all, made.identity);
  if (adapter === null) await checkStoredAdapter(session, before, made.identity);
  const samples = await readSampleChange(session, options);
  const losses = before === null ? [] : identityLosses(before, made.identity);
  if (losses.length > 0) await session.confirm({ what: `change the identity ${identityId}`, losses });
  // Files come before the catalog that names them, and go after it: whatever is interrupted, no link is dead.
  await adapter?.upload();
  const putSamples = samples === null ? null : samples.putter(identityId);
  const change = (found: Identity | null) =>
    withShown(found === null ? made : changedIdentity(found, options, nowMs), putSamples, session);
  const by = await session.operator();
  const after = await stores.identities.change(identityId, change, by, nowMs).catch((error: unknown) => {
    throw error instanceof SlugTaken ? slugTaken(made.identity.slug) : error;
  });
  await samples?.clean(before?.samples ?? [], after);
  const isActivated = after.model !== null && after.model.number !== before?.model?.number;
  return isActivated ? activatedAnswer(after) : identityAnswer(after);
}

/** New samples are those of the active version. */
async function withShown(
  { identity, versions = [] }: IdentityChange,
  putSamples: PutSamples | null,
  { stores }: Session,
): Promise<IdentityChange> {
  if (putSamples === null) return { identity, versions };
  refuseWithdrawn(identity);
  const samples = await putSamples(identity.samples);
  const active = identity.model?.number;
  if (active === undefined) {
    if (samples.length > 0 && identity.lastVersion > 0) {
      throw new Failure(`${identity.name} has no active version, which samples are of: activate one first.`);
    }
    return { identity: { ...identity, samples }, versions };
  }
  const [version = await stores.identities.version(identity.identityId, active)] = versions;
  return withSamples(identity, { ...(version ?? activeVersion(identity)!), samples });
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
  VERSION: ({ model, withdrawn }: Identity) => (withdrawn ? 'withdrawn' : (model?.number ?? 'none')),
};
