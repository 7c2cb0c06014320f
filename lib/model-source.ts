import { noModelEndpoint } from '../shared/base/config.ts';
import type { Inference } from './configuration.ts';
import { variantName } from './constructs/model/model-container.ts';
import type { ModelAccess } from './constructs/model-access.ts';
import type { ModelSource } from './constructs/monitoring/sources.ts';
import type { ModelStack } from './model-stack.ts';

/** The name of the endpoint that a configuration paints with. */
export function endpointNameOf(inference: Inference, model: ModelStack | null): string {
  if (model !== null) return model.importEndpointName();
  return inference.kind === 'existing' ? inference.endpointName : noModelEndpoint;
}

/** What monitoring shows of the model. */
export function modelSource(inference: Inference, { endpointName, componentName }: ModelAccess): ModelSource {
  if (inference.kind !== 'endpoint') {
    return { endpointName, componentName, variantName: null, maxInstances: null };
  }
  const { minInstances, maxInstances } = inference;
  // One that is awake or asleep is never more than that.
  const isFixed = Math.max(1, minInstances) === maxInstances;
  return { endpointName, componentName, variantName, maxInstances: isFixed ? null : maxInstances };
}
