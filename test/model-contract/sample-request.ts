import { randomUUID } from 'node:crypto';
import type { ModelRequest } from '../../shared/model/contract.ts';
import { inMs } from './invocation.ts';

/** An identity without weights of its own. */
export const plainIdentity = {
  id: 'idn_a',
  adapterUrl: null,
  adapterVersion: null,
  version: 1,
  adapterSha256: null,
  settings: {},
};

/** The links of one output. */
export type OutputLinks = ModelRequest['outputs'][number];

/** A request that fits the contract, with one output for each link and ten minutes of time. */
export function sampleRequest(outputs: OutputLinks[]): ModelRequest {
  return {
    requestId: randomUUID(),
    deadline: inMs(600_000),
    tenant: 'tenant-a',
    prompt: 'a quiet sea',
    negativePrompt: '',
    seed: 11,
    numInferenceSteps: 20,
    guidanceScale: 7.5,
    width: 512,
    height: 512,
    numOutputs: outputs.length,
    outputFormat: 'png',
    embedParameters: false,
    referenceMode: 'reference',
    preserveBranding: false,
    references: [],
    identity: plainIdentity,
    outputs,
  };
}
