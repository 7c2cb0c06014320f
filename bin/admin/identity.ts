import { Option, type Command } from 'commander';
import type { Identity } from '../../shared/identities/identity.ts';
import { answer, withExamples, withYes, type Session } from './command.ts';
import { Failure } from '../common/failure.ts';
import { changedIdentity, identityLosses, newIdentity, type IdentityOptions } from './identity-change.ts';
import { keyValues, table, type Answer } from '../common/output.ts';
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
  'identity put --name Aurora --slug aurora --description "Curtains of light." --catalog founding',
  'identity put --id idn_… --model-version 2 --adapter-key adapters/aurora-2.safetensors',
  'identity put --id idn_… --sample coast.png --sample-prompt "A quiet coast" --sample town.jpg --sample-prompt "A town"',
  'identity deactivate idn_…',
];

type PutOptions = IdentityOptions & SampleOptions;

export function addIdentityCommands(program: Command): void {
  const identity = program
    .command('identity')
    .description('identities, the creator systems that paint: make, change, list, deactivate');
  withExamples(identity, examples);
  addPut(identity);
  identity
    .command('list')
    .description('every identity, by name')
    .action((_, command: Command) => answer(command, list));
  identity
    .command('show')
    .description('one identity')
    .argument('<identity>', 'its id', id('IDENTITY'))
    .action((identityId: string, _, command: Command) =>
      answer(command, async (session) => identityAnswer(await getIdentity(session, identityId))),
    );
  const deactivation = identity
    .command('deactivate')
    .description(
      'take an identity its model: within 10 seconds requests for it are answered 503 IDENTITY_UNAVAILABLE',
    )
    .argument('<identity>', 'its id', id('IDENTITY'))
    .action((identityId: string, _, command: Command) =>
      answer(command, (session) => deactivate(session, identityId)),
    );
  withYes(deactivation);
}

function addPut(identity: Command): void {
  const put = identity
    .command('put')
    .description('make an identity, or change the one with --id: what is not given stays as it is')
    .option('--id <id>', 'the identity to change, or the id of a new one (default: a new id)', id('--id'))
    .option('--name <name>', 'what people call it', line('--name', 100))
    .option('--slug <slug>', 'its name in addresses', slug('--slug'))
    .option('--description <text>', 'one sentence about it', line('--description', 500))
    .option(
      '--catalog <catalog>',
      'founding: comes with every core plan; specialist: granted one by one',
      oneOf('--catalog', ['founding', 'specialist']),
    )
    .option('--product-photos', 'takes reference images of products')
    .option('--no-product-photos', 'takes none (as a new identity does)')
    .option(
      '--model-version <version>',
      'version of its model (default of a new one: 1)',
      line('--model-version', 100),
    )
    .option(
      '--adapter-key <s3key>',
      "its adapter's key in the bucket, below adapters/",
      objectKey('--adapter-key'),
    )
    .option('--no-adapter-key', 'the base model without an adapter')
    .option(
      '--adapter-sha256 <hex>',
      'what `sha256sum` says of the adapter: a container refuses any other file',
      sha256('--adapter-sha256'),
    )
    .option('--settings <json>', 'a JSON object that the model is given as it is', jsonObject('--settings'))
    .addOption(
      new Option('--no-model', 'no active model').conflicts([
        'modelVersion',
        'adapterKey',
        'adapterSha256',
        'settings',
      ]),
    )
    .action((options: PutOptions, command: Command) => {
      checkSampleOptions(options);
      const created = options.id === undefined ? newIdentity(options) : null;
      return answer(command, (session) => putIdentity(session, options, created));
    });
  addSampleOptions(put);
  withYes(put);
}

function addSampleOptions(put: Command): void {
  put
    .option(
      '--sample <file>',
      `a PNG, JPEG or WebP of what it paints; repeat it for up to ${maxSamples}, which replace those before`,
      repeated(nonEmpty('--sample')),
    )
    .option(
      '--sample-prompt <text>',
      'what painted the sample: one for each --sample, in their order',
      repeated(line('--sample-prompt', maxSamplePromptCharacters)),
    )
    .option('--no-samples', 'remove its samples');
}

async function putIdentity(session: Session, options: PutOptions, created: Identity | null): Promise<Answer> {
  const { stores, nowMs } = session;
  const all = await stores.identities.list();
  const before = all.find(({ identityId }) => identityId === options.id) ?? null;
  const changed = before === null ? (created ?? newIdentity(options)) : changedIdentity(before, options);
  const namesake = all.find((one) => one.slug === changed.slug && one.identityId !== changed.identityId);
  if (namesake) {
    throw new Failure(
      `The slug ${changed.slug} belongs to ${namesake.identityId}: change that with --id, or choose another.`,
    );
  }
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
  const rows = identities.map((identity) => [
    identity.identityId,
    identity.name,
    identity.slug,
    identity.catalog,
    identity.productPhotos ? 'yes' : 'no',
    identity.samples.length,
    identity.model?.version ?? 'none',
  ]);
  return {
    json: { identities: identities.map(identityJson) },
    text:
      rows.length === 0
        ? 'There are no identities.'
        : table(['IDENTITY', 'NAME', 'SLUG', 'CATALOG', 'PRODUCT PHOTOS', 'SAMPLES', 'MODEL'], rows),
  };
}

async function getIdentity({ stores }: Session, identityId: string): Promise<Identity> {
  const identity = await stores.identities.get(identityId);
  if (identity === null) throw new Failure(`There is no identity ${identityId}.`);
  return identity;
}

function identityAnswer(identity: Identity): Answer {
  const { model } = identity;
  return {
    json: identityJson(identity),
    text: keyValues([
      ['Identity', identity.identityId],
      ['Name', identity.name],
      ['Slug', identity.slug],
      ['Description', identity.description],
      ['Catalog', identity.catalog],
      ['Product photos', identity.productPhotos ? 'yes' : 'no'],
      ...sampleLines(identity),
      ['Model', model === null ? 'none: requests are answered 503' : model.version],
      ['Adapter', model?.adapterKey ?? null],
      ['Adapter SHA-256', model?.adapterSha256 ?? null],
      ['Settings', model === null ? null : JSON.stringify(model.settings)],
    ]),
  };
}

/** As GET /identities shows it, with the operator's own members; `identityId` is the same as `id`. */
function sampleLines({ samples }: Identity): [string, string][] {
  if (samples.length === 0) return [['Samples', 'none']];
  return samples.map(({ widthPx, heightPx, prompt }, i) => [
    `Sample ${i + 1}`,
    `${widthPx} × ${heightPx} px${prompt === null ? '' : `, ${prompt}`}`,
  ]);
}

function identityJson(identity: Identity): Record<string, unknown> {
  const { identityId, name, slug: slugName, description, catalog, productPhotos, samples, model } = identity;
  const available = model !== null;
  return {
    id: identityId,
    identityId,
    name,
    slug: slugName,
    description,
    catalog,
    productPhotos,
    samples: samples.map(({ sampleId, widthPx, heightPx, prompt }) => ({
      sampleId,
      width: widthPx,
      height: heightPx,
      prompt,
    })),
    available,
    model,
  };
}
