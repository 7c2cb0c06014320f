/** A request as a caller sends it, for one small picture of an identity with these settings. */
export function requestOf(settings: Record<string, unknown> = {}, changes: Record<string, unknown> = {}) {
  return {
    requestId: 'request',
    deadline: inMs(600_000),
    prompt: 'a quiet sea',
    negativePrompt: '',
    seed: 11,
    numInferenceSteps: 20,
    guidanceScale: 7.5,
    width: 512,
    height: 512,
    numOutputs: 1,
    referenceMode: 'reference',
    preserveBranding: false,
    references: [],
    identity: { id: 'idn_a', adapterUrl: null, adapterVersion: null, settings },
    outputs: [{ putUrl: 'http://127.0.0.1:9/image' }],
    ...changes,
  };
}

export const inMs = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();
