import type { Identity } from '../../shared/identities/identity.ts';
import type { IdentityVersion, StoredVersion } from '../../shared/identities/version.ts';
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
      ...(model === null ? [] : versionLines(model)),
    ]),
  };
}

/** The same, after another version became active: with what may be forgotten about it. */
export function activatedAnswer(identity: Identity): Answer {
  const { json, text } = identityAnswer(identity);
  const { model, slug, samples } = identity;
  if (model === null) return { json, text };
  const missing = missingRights(model);
  const notes = [
    ...(missing.length === 0
      ? []
      : [`Warning: nothing says its ${missing.join(', ')}: admin identity rights ${slug} ${model.number} …`]),
    ...(samples.length > 0
      ? []
      : [
          `Version ${model.number} has no samples: admin identity samples ${slug} --license LICENSE --prompt …`,
        ]),
  ];
  return { json, text: [text, ...notes].join('\n\n') };
}

export function versionAnswer({ name }: Identity, version: StoredVersion): Answer {
  const { number, retiresAtMs, note } = version;
  return {
    json: versionJson(version),
    text: keyValues([
      ['Identity', name],
      ['Version', number],
      ['Note', note],
      ['Retires', retiresAtMs === null ? 'never' : readableTime(retiresAtMs)],
      ...versionLines(version),
    ]),
  };
}

/** What is not known of the right to make pictures with a version. */
export function missingRights({ rights: { license, source, consent } }: IdentityVersion): string[] {
  return Object.entries({ licence: license, source, consent })
    .filter(([, value]) => value === null)
    .map(([what]) => what);
}

function versionLines({
  adapterKey,
  adapterSha256,
  baseModel,
  settings,
  words,
  rights,
}: IdentityVersion): [string, string | null][] {
  const { triggerWords, showsTriggerWords, promptTemplate, negativePrompt, sizePx } = words;
  const { license, source, consent } = rights;
  const shown = showsTriggerWords ? 'callers see them' : 'callers do not see them';
  return [
    ['Adapter', adapterKey],
    ['Adapter SHA-256', adapterSha256],
    ['Base model', baseModel],
    ['Settings', JSON.stringify(settings)],
    ['Trigger words', triggerWords.length === 0 ? null : `${triggerWords.join(', ')} (${shown})`],
    ['Template', promptTemplate],
    ['Negative prompt', negativePrompt],
    ['Size', sizePx && `${sizePx.width}x${sizePx.height}`],
    ['Licence', license],
    ['Source', source],
    ['Consent', consent && `${consent.date}, SHA-256 ${consent.sha256}`],
  ];
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
