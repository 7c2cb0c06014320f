import { identityLimits as limits, type Identity } from '../../shared/identities/identity.ts';
import { isNamed, SlugTaken, type IdentityChange } from '../../shared/identities/store.ts';
import { counted, keyValues, type Answer } from '../common/output.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { line, nonEmpty, oneOf, repeated, slug } from '../common/values.ts';
import { checkAdapterFile, type CheckedAdapter } from './identity-adapter.ts';
import type { CommandRow, Session } from './command.ts';
import { newIdentity, type IdentityOptions, type RightsOptions } from './identity-change.ts';
import { activatedAnswer } from './identity-output.ts';
import { consentOptions } from './identity-versions.ts';

interface CreateOptions extends RightsOptions, Pick<IdentityOptions, 'name' | 'description'> {
  trigger?: string[];
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
    [
      '--description <text>',
      "one sentence about it (default: the file's own, or the name)",
      line(limits.description),
    ],
    [
      '--trigger <words>',
      `words that call up what it has learnt; may be repeated ${fromFile}`,
      repeated(line(limits.triggerWord)),
    ],
    ['--rights <text>', `its licence ${fromFile}`, line(limits.rights)],
    ['--source <text>', `where it is from ${fromFile}`, line(limits.source)],
    ...consentOptions,
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
  const namesake = all.find((one) => isNamed(one, wanted) && one.identityId !== identityId);
  if (namesake !== undefined) throw slugTaken(wanted, namesake.identityId);
}

export function slugTaken(wanted: string, owner = 'another identity'): Failure {
  return new Failure(
    `The slug ${wanted} belongs to ${owner}, and stays so: change that identity with --id, or choose another slug.`,
  );
}

async function create(session: Session, slugName: string, options: CreateOptions): Promise<Answer> {
  checkSlug(await session.stores.identities.list(), { slug: slugName });
  const adapter = await adapterOf(session, options.adapter);
  const { checked, upload, stored } = adapter;
  const made = identityOf(slugName, options, checked, stored, session.nowMs);
  if (options.dryRun)
    return answerOf(made.identity, checked, 'Nothing was changed: it was a dry run.', { dryRun: true });
  const isNew = await upload();
  await storeNew(session, made);
  const size = megabytes(checked.file.sizeBytes);
  const uploaded = isNew ? `Uploaded ${size}.` : 'The same file was there already.';
  const next = nextSteps(session, made.identity);
  return answerOf(made.identity, checked, `${uploaded}\n\n${next}`, { uploaded: isNew });
}

/** A file that fits, where it will lie, and how it gets there: `upload` says whether it was not there yet. */
export async function adapterOf(session: Session, path: string) {
  const { bucketName } = session;
  if (bucketName === null) {
    throw usageFailure('Adapters lie in the bucket of a stack: name the stack with --stack.');
  }
  const checked = await checkAdapterFile(session, path);
  const { file } = checked;
  const { adapterBucket, sha256OfFile } = await import('./adapter/bucket.ts');
  const adapterSha256 = await sha256OfFile(file.path);
  const adapterKey = `adapters/${adapterSha256}.safetensors`;
  const upload = async (): Promise<boolean> => {
    const bucket = adapterBucket(bucketName);
    const place = { key: adapterKey, sha256: adapterSha256 };
    return bucket.upload(file, place, progressOf(file.sizeBytes)).finally(bucket.close);
  };
  const baseModel = checked.stage?.version ?? checked.adapter.base.kind;
  return { checked, stored: { adapterKey, adapterSha256, baseModel }, upload };
}

/** Files come before the catalog that names them. */
async function storeNew(session: Session, made: IdentityChange): Promise<void> {
  const { identityId, slug: wanted } = made.identity;
  const by = await session.operator();
  await session.stores.identities
    .change(identityId, () => made, by, session.nowMs)
    .catch((error: unknown) => {
      // Another operator was quicker, because an upload takes a while.
      throw error instanceof SlugTaken ? slugTaken(wanted) : error;
    });
}

function identityOf(
  slugName: string,
  options: CreateOptions,
  { facts }: CheckedAdapter,
  adapter: Awaited<ReturnType<typeof adapterOf>>['stored'],
  nowMs: number,
): IdentityChange {
  const { triggerWords: trigger, trainedOn: _trainedOn, ...others } = facts;
  const { adapter: _adapter, dryRun: _dryRun, ...given } = options;
  const name = given.name ?? others.name ?? nameOf(slugName);
  const said = { description: name, ...others, ...(trigger && { trigger }), ...given, name };
  return newIdentity({ ...said, ...adapter, slug: slugName, model: true }, nowMs);
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
  const { json, text } = activatedAnswer(identity);
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

function nextSteps({ baseUrl }: Session, { catalog, slug: slugName, model }: Identity): string {
  const prompt = [...(model?.words.triggerWords ?? []), 'a quiet coast'].join(', ');
  const grant = catalog === 'founding' ? '--founding-catalog' : `--identity ${slugName}`;
  const body = JSON.stringify({ identityId: slugName, prompt }).replaceAll("'", String.raw`'\''`);
  return [
    'What to try next:',
    `  admin license grant --owner YOU@EXAMPLE.COM --tier starter ${grant}`,
    '  admin key issue LICENSE --name test',
    `  curl ${baseUrl ?? 'BASE_URL'}/generate -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' -d '${body}'`,
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
