import type { StoredGeneration } from '../../../lib/types.ts';
import { readImageNumber, formatLabels, outputSeed, typeLabels } from '../../../lib/outputs.ts';
import { isFinal } from '../../../api/queries.ts';
import { formatNumber } from '../../../lib/format.ts';
import { formatSize } from '../request-view.ts';

/** One of the two that are compared, and which of its images is shown, from 0. */
export interface Compared {
  requestId: string;
  index: number;
}

/** The two of an address. Null where one of them is missing. */
export function readCompared(parameters: URLSearchParams): { a: Compared; b: Compared } | null {
  const [a, b] = (['a', 'b'] as const).map((side) => ({
    requestId: parameters.get(side)?.trim() ?? '',
    index: readImageNumber(parameters.get(`image${side.toUpperCase()}`)),
  }));
  return a!.requestId === '' || b!.requestId === '' ? null : { a: a!, b: b! };
}

/** The address's query. The first image is not in it. */
export function comparedSearch({ a, b }: { a: Compared; b: Compared }): string {
  const search = new URLSearchParams({ a: a.requestId, b: b.requestId });
  if (a.index > 0) search.set('imageA', String(a.index + 1));
  if (b.index > 0) search.set('imageB', String(b.index + 1));
  return `?${search.toString()}`;
}

export interface Row {
  name: string;
  a: string;
  b: string;
  isDifferent: boolean;
}

/** What a stored request was asked for, in the words of its page. The seed is that of the image that is shown. */
const parameters: [name: string, read: (of: StoredGeneration, index: number) => string][] = [
  ['Prompt', ({ prompt }) => prompt],
  ['What the model got', ({ effectivePrompt }) => effectivePrompt ?? 'The prompt as it is'],
  ['Negative prompt', ({ negativePrompt }) => negativePrompt || 'None'],
  ['Identity', ({ identity }) => identity.name],
  ['Identity version', ({ identityVersion }) => String(identityVersion ?? '–')],
  ['Type', ({ type }) => typeLabels[type]],
  ['Size', (of) => `${formatSize(of)} px`],
  ['Seed', ({ seed }, index) => String(outputSeed(seed, index))],
  ['Steps', ({ steps }) => formatNumber(steps)],
  ['Guidance scale', ({ cfgScale }) => formatNumber(cfgScale)],
  ['Outputs', ({ numOutputs }) => formatNumber(numOutputs)],
  ['Format', ({ outputFormat }) => formatLabels[outputFormat]],
  ['Reference images used', ({ referenceImagesUsed }) => formatNumber(referenceImagesUsed)],
  ['Preserve branding', ({ preserveBranding }) => (preserveBranding ? 'Yes' : 'No')],
  ['Model version', ({ modelVersion }) => modelVersion ?? '–'],
  [
    'Credits charged',
    ({ status, creditsCharged }) => (isFinal(status) ? formatNumber(creditsCharged) : 'None so far'),
  ],
];

export interface Shown {
  generation: StoredGeneration;
  index: number;
}

export function compareRequests(a: Shown, b: Shown): Row[] {
  return parameters.map(([name, read]) => {
    const [ofA, ofB] = [read(a.generation, a.index), read(b.generation, b.index)];
    // Two identities may have the same name.
    const isOther = name === 'Identity' && a.generation.identity.id !== b.generation.identity.id;
    return { name, a: ofA, b: ofB, isDifferent: ofA !== ofB || isOther };
  });
}
