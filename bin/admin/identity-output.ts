import type { Identity } from '../../shared/identities/identity.ts';
import type { StoredVersion } from '../../shared/identities/version.ts';
import { keyValues, readableTime, type Answer } from '../common/output.ts';

export function identityAnswer(identity: Identity): Answer {
  const { model, withdrawn } = identity;
  return {
    json: identityJson(identity),
    text: keyValues([
      ['Identity', identity.identityId],
      ['Name', identity.name],
      ['Slug', identity.slug],
      ...(identity.formerSlugs.length > 0
        ? ([['Former slugs', identity.formerSlugs.join(', ')]] as [string, string][])
        : []),
      ['Description', identity.description],
      ['Catalog', identity.catalog],
      ['Product photos', identity.productPhotos ? 'yes' : 'no'],
      ...sampleLines(identity),
      ...(withdrawn === null
        ? []
        : ([['Withdrawn', `${readableTime(withdrawn.atMs)}: ${withdrawn.reason}`]] as [string, string][])),
      ['Active version', model === null ? 'none: requests are answered 503' : model.number],
      ['Adapter', model?.adapterKey ?? null],
      ['Adapter SHA-256', model?.adapterSha256 ?? null],
      ['Settings', model === null ? null : JSON.stringify(model.settings)],
      ['Trigger words', model?.words.triggerWords.join(', ') ?? null],
      ['Template', model?.words.promptTemplate ?? null],
      ['Negative prompt', model?.words.negativePrompt ?? null],
      ['Size', model?.words.sizePx ? `${model.words.sizePx.width}x${model.words.sizePx.height}` : null],
    ]),
  };
}

function sampleLines({ samples }: Identity): [string, string][] {
  if (samples.length === 0) return [['Samples', 'none']];
  return samples.map(({ widthPx, heightPx, prompt }, i) => [
    `Sample ${i + 1}`,
    `${widthPx} × ${heightPx} px${prompt === null ? '' : `, ${prompt}`}`,
  ]);
}

/** As GET /identities shows it, with the operator's own members; `identityId` is the same as `id`. */
export function identityJson(identity: Identity): Record<string, unknown> {
  const { identityId, samples, model, ...members } = identity;
  return {
    id: identityId,
    identityId,
    ...members,
    samples: samples.map(sampleJson),
    available: model !== null,
    model,
  };
}

export function versionJson({ samples, ...version }: StoredVersion): Record<string, unknown> {
  return { ...version, samples: samples.map(sampleJson) };
}

function sampleJson({ sampleId, widthPx, heightPx, prompt }: Identity['samples'][number]) {
  return { sampleId, width: widthPx, height: heightPx, prompt };
}
