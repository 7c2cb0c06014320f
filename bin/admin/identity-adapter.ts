import type { Identity } from '../../shared/identities/identity.ts';
import { readStageModel, type StageModel } from '../common/stage-model.ts';
import { counted } from '../common/output.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { readAdapterFile, shown, type AdapterFile } from './adapter/file.ts';
import { factsOf, type FileFacts } from './adapter/metadata.ts';
import { baseModels, noPart, recognise, type Adapter, type Finding } from './adapter/recognise.ts';
import type { Session } from './command.ts';

/** What was found out of a file, which fits the stage as far as that can be told. */
export interface CheckedAdapter {
  file: AdapterFile;
  /** What it says of itself. */
  facts: FileFacts;
  adapter: Adapter;
  /** Null where the stage's model can't be looked up. */
  stage: StageModel | null;
}

/** @throws Failure when the file is no adapter, or does not fit the model that the stage generates with */
export async function checkAdapterFile(
  { modelData }: Pick<Session, 'modelData'>,
  path: string,
): Promise<CheckedAdapter> {
  const file = await readAdapterFile(path);
  const facts = factsOf(file.metadata);
  const stage = modelData === null ? null : await readStageModel(modelData);
  const base = baseModels.find(({ pipeline }) => pipeline === stage?.pipeline) ?? null;
  if (stage !== null && base === null) {
    throw new Failure(
      `The stage generates with ${stage.pipeline ?? 'a model of its own'}, whose adapters are not known here: ` +
        'upload the file yourself, and use "identity put".',
    );
  }
  const finding = recognise(file, base);
  if (finding.misfits.length === 0) return { file, facts, adapter: finding.adapter, stage };
  const other = base === null ? null : recognise(file, null);
  if (other?.misfits.length === 0) {
    throw new Failure(
      `--adapter ${path} is an adapter for ${other.adapter.base.name}, and this stage generates with ${base!.name}.`,
    );
  }
  throw misfit(file, finding, facts, base === null);
}

const mostMisfitsSaid = 3;

function misfit(
  { path, tensors }: AdapterFile,
  { adapter, misfits }: Finding,
  { trainedOn }: FileFacts,
  fitsAny: boolean,
): Failure {
  const said = misfits.slice(0, mostMisfitsSaid).map(({ tensor, why }) => `${shown(tensor)} ${why}`);
  const more = misfits.length - said.length;
  if (more > 0) said.push(`and ${more} more`);
  const isWhole = tensors.size > 0 && misfits.every(({ why }) => why === noPart);
  const kind = isWhole ? ' It looks like a whole model, which is no adapter.' : '';
  const training = trainedOn === undefined ? '' : ` The file says that it was trained on "${trainedOn}".`;
  if (fitsAny && adapter.layers === 0) {
    const models = baseModels.map(({ name }) => name).join(', ');
    const first = [...tensors.keys()].slice(0, mostMisfitsSaid).map(shown).join(', ');
    return new Failure(
      `--adapter ${path} fits none of ${models}: its tensors are ${first} and so on.${kind}${training}`,
    );
  }
  return new Failure(
    `--adapter ${path} does not fit ${adapter.base.name}, at ${counted(misfits.length, 'place')} in its ` +
      `${counted(tensors.size, 'tensor')}: ${said.join('; ')}.${kind}${training}`,
  );
}

/** A change that names another file or digest must name what is there. @throws Failure */
export async function checkStoredAdapter(
  { bucketName }: Pick<Session, 'bucketName'>,
  before: Identity | null,
  { model }: Identity,
): Promise<void> {
  const { adapterKey: key = null, adapterSha256: sha256 = null } = model ?? {};
  const isAsBefore = before?.model?.adapterKey === key && before.model.adapterSha256 === sha256;
  if (key === null || isAsBefore) return;
  if (bucketName === null) {
    throw usageFailure('Adapters lie in the bucket of a stack: name the stack with --stack.');
  }
  const { adapterBucket } = await import('./adapter/bucket.ts');
  const bucket = adapterBucket(bucketName);
  await bucket.check(key, sha256).finally(bucket.close);
}
