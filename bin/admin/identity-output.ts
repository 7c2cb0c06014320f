import type { Identity } from '../../shared/identities/identity.ts';
import { keyValues, type Answer } from '../common/output.ts';

export function identityAnswer(identity: Identity): Answer {
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
      ['Trigger words', identity.triggerWords?.join(', ') ?? null],
      ['Rights', identity.rights ?? null],
      ['Source', identity.source ?? null],
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

export function identityJson(identity: Identity): Record<string, unknown> {
  const { identityId, name, slug, description, catalog, productPhotos, samples, model, ...said } = identity;
  const available = model !== null;
  return {
    id: identityId,
    identityId,
    name,
    slug,
    description,
    catalog,
    productPhotos,
    ...said,
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
