/** What a hosted service lists for an image of about one megapixel that one of its open models makes. */
export interface Peer {
  service: string;
  model: string;
  usdPerImage: number;
  /** The date that the page bears, which a price may have outlived. */
  listed: string;
  /** The page that was read. */
  source: string;
}

export const peersReadOn = '2026-11-24';

/**
 * Only prices whose page says when they were listed. Some pages are other people's: services change their own without a
 * date. SDXL is not here because no dated page lists it by the image.
 */
export const peers: readonly Peer[] = [
  {
    service: 'Runware',
    model: 'FLUX.1 [schnell]',
    usdPerImage: 0.0006,
    listed: '2026-05-25',
    source: 'https://www.workflowlab.dev/cost/flux-schnell-together',
  },
  {
    service: 'Together AI',
    model: 'FLUX.1 [schnell]',
    usdPerImage: 0.0027,
    listed: '2026-05-25',
    source: 'https://www.workflowlab.dev/cost/flux-schnell-together',
  },
  {
    service: 'Replicate',
    model: 'FLUX.1 [schnell]',
    usdPerImage: 0.003,
    listed: '2026-10-07',
    source:
      'https://raw.githubusercontent.com/api-evangelist/replicate/refs/heads/main/plans/replicate-plans-pricing.yml',
  },
  {
    service: 'fal',
    model: 'Z-Image-Turbo',
    usdPerImage: 0.005,
    // It announces a model that fal's blog announced that day.
    listed: '2026-02-04 or later',
    source: 'https://fal.ai/models/fal-ai/z-image/turbo',
  },
  {
    service: 'Black Forest Labs',
    model: 'FLUX.2 [klein] 4B',
    usdPerImage: 0.014,
    listed: '2026-06',
    source: 'https://developer.puter.com/tutorials/flux-api-pricing/',
  },
  {
    service: 'Stability AI',
    model: 'Stable Diffusion 3.5 Medium',
    usdPerImage: 0.035,
    listed: '2026-06',
    source: 'https://developer.puter.com/tutorials/stability-ai-api-pricing/',
  },
];
