import { identityLimits as limits, type Identity } from '../../shared/identities/identity.ts';
import { counted, keyValues, type Answer } from '../common/output.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { line, nonEmpty, oneOf, repeated, slug } from '../common/values.ts';
import { checkAdapterFile, type CheckedAdapter } from './identity-adapter.ts';
import type { CommandRow, Session } from './command.ts';
import { newIdentity, type IdentityOptions } from './identity-change.ts';
import { identityAnswer } from './identity-output.ts';

interface CreateOptions extends Pick<
  IdentityOptions,
  'name' | 'description' | 'trigger' | 'rights' | 'source'
> {
  adapter: string;
  catalog: Identity['catalog'];
  productPhotos?: boolean;
  dryRun?: boolean;
}

const catalogs = 'founding: comes with every core plan; specialist: granted one by one';
const fromFile = "(default: the file's own)";

export const createCommand: CommandRow = {
  name: 'create',
  description:
    "make an identity of an adapter's file: checks it by its header, uploads it, and takes what the file says of itself",
  operands: [['<slug>', 'its name in addresses', slug]],
  options: [
    ['--adapter <file>', 'a .safetensors file: LoRA, LoHa, LoKr or DoRA', nonEmpty, { required: true }],
    ['--name <name>', `what people call it ${fromFile}`, line(limits.name)],
    ['--description <text>', `one sentence about it ${fromFile}`, line(limits.description)],
    [
      '--trigger <words>',
      `words that call up what it has learnt; may be repeated ${fromFile}`,
      repeated(line(limits.triggerWord)),
    ],
    ['--rights <text>', `its licence ${fromFile}`, line(limits.rights)],
    ['--source <text>', `where it is from ${fromFile}`, line(limits.source)],
    ['--catalog <catalog>', catalogs, oneOf(['founding', 'specialist']), { usual: 'specialist' }],
    ['--product-photos', 'takes reference images of products'],
    ['--dry-run', 'say all of it, and change nothing'],
  ],
  run(options: CreateOptions, name: string) {
    if ((options.trigger?.length ?? 0) > limits.triggerWords) {
      throw usageFailure(`An identity has at most ${limits.triggerWords} trigger words.`);
    }
    return (session) => create(session, name, options);
  },
};

/** @throws Failure when another identity has the slug. */
export function checkSlug(
  all: readonly Identity[],
  { identityId, slug: wanted }: Pick<Identity, 'slug'> & { identityId?: string },
): void {
  const namesake = all.find((one) => one.slug === wanted && one.identityId !== identityId);
  if (namesake === undefined) return;
  throw new Failure(
    `The slug ${wanted} belongs to ${namesake.identityId}: change that with --id, or choose another.`,
  );
}

async function create(session: Session, slugName: string, options: CreateOptions): Promise<Answer> {
  const { bucketName, stores } = session;
  if (bucketName === null) {
    throw usageFailure('Adapters lie in the bucket of a stack: name the stack with --stack.');
  }
  checkSlug(await stores.identities.list(), { slug: slugName });
  const checked = await checkAdapterFile(session, options.adapter);
  const { file } = checked;
  const { adapterBucket, sha256OfFile } = await import('./adapter/bucket.ts');
  const sha256 = await sha256OfFile(file.path);
  const key = `adapters/${sha256}.safetensors`;
  const identity = identityOf(slugName, options, checked, { adapterKey: key, adapterSha256: sha256 });
  if (options.dryRun)
    return answerOf(identity, checked, 'Nothing was changed: it was a dry run.', { dryRun: true });
  const bucket = adapterBucket(bucketName);
  const isNew = await bucket.upload(file, { key, sha256 }, progressOf(file.sizeBytes)).finally(bucket.close);
  await storeNew(session, identity);
  const uploaded = isNew ? `Uploaded ${megabytes(file.sizeBytes)}.` : 'The same file was there already.';
  return answerOf(identity, checked, `${uploaded}\n\n${nextSteps(identity)}`, { uploaded: isNew });
}

/** The one place where a created identity is written. Files come before the catalog that names them. */
async function storeNew(session: Session, identity: Identity): Promise<void> {
  const { identities } = session.stores;
  // Again, because an upload takes a while.
  checkSlug(await identities.list(), identity);
  await identities.put(identity, await session.operator(), session.nowMs);
}

function identityOf(
  slugName: string,
  options: CreateOptions,
  { facts }: CheckedAdapter,
  adapter: { adapterKey: string; adapterSha256: string },
): Identity {
  const { triggerWords: trigger, trainedOn: _trainedOn, ...others } = facts;
  const { adapter: _adapter, dryRun: _dryRun, ...given } = options;
  const said = { name: nameOf(slugName), ...others, ...(trigger && { trigger }), ...given };
  if (said.description === undefined) {
    throw usageFailure('The file has no description of itself: give one with --description.');
  }
  return newIdentity({ ...said, ...adapter, slug: slugName, model: true });
}

/** "Ink Studio" for "ink-studio". */
function nameOf(slugName: string): string {
  return slugName.replaceAll('-', ' ').replace(/\b./g, (letter) => letter.toUpperCase());
}

function answerOf(
  identity: Identity,
  { file: { sizeBytes: bytes }, facts: { trainedOn }, adapter, stage }: CheckedAdapter,
  end: string,
  more: Record<string, unknown>,
): Answer {
  const { base, ...found } = adapter;
  const { kind, format, ranks, layers } = found;
  const { json, text } = identityAnswer(identity);
  const stageModel = stage?.version ?? stage?.pipeline ?? null;
  const unknown = "the stage's own can't be looked up, so compare it yourself";
  const rank = ranks.length === 0 ? '' : ` of rank ${ranks.join(', ')}`;
  const lines = keyValues([
    ['File', `${kind}${rank}, ${counted(layers, 'layer')} in ${format}'s names, ${megabytes(bytes)}`],
    ['Base model', `${base.name} (${stageModel ?? unknown})`],
    ['Trained on', trainedOn ?? null],
  ]);
  const facts = { baseModel: base.kind, ...found, bytes, trainedOn: trainedOn ?? null, stageModel };
  return { json: { ...json, adapter: facts, ...more }, text: `${text}\n\n${lines}\n\n${end}` };
}

function nextSteps({ identityId, catalog, slug: slugName, triggerWords = [] }: Identity): string {
  const prompt = [...triggerWords, 'a quiet coast'].join(', ');
  const grant = catalog === 'founding' ? '--founding-catalog' : `--identity ${identityId}`;
  return [
    'What to try next:',
    `  admin license grant --owner YOU@EXAMPLE.COM --tier starter ${grant}`,
    '  admin key issue LICENSE --name test',
    `  POST /generate ${JSON.stringify({ identityId, prompt })}`,
    `  admin identity put --id ${identityId} --sample PICTURE   (pictures of ${slugName} for the dashboard)`,
  ].join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** On a terminal; a log would keep each line. */
function progressOf(sizeBytes: number): (bytes: number) => void {
  if (!process.stderr.isTTY) return () => {};
  return (bytes) => {
    const percent = Math.floor((100 * bytes) / sizeBytes);
    process.stderr.write(`\rUploading: ${percent} %${bytes === sizeBytes ? '\n' : ''}`);
  };
}
