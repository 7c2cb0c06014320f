import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import type { ModelState } from './health-contract.ts';
import type { Described } from './cold-start.ts';
import { awsUrl, signedFetch } from '../base/signed-fetch.ts';

const withinMs = 3000;

/** What is read of an answer; anything else that it holds is left alone. */
interface Description {
  InferenceComponentStatus?: unknown;
  /** Seconds since 1970. */
  LastModifiedTime?: unknown;
  RuntimeConfig?: { CurrentCopyCount?: unknown; DesiredCopyCount?: unknown };
}

/**
 * Asks how an inference component is, which begins no cold start (Amazon SageMaker API, "DescribeInferenceComponent").
 * @param sageMakerUrl of the control plane, where it is not AWS's own.
 */
export function componentStatus(name: string, sageMakerUrl: string | null) {
  const { config } = new SageMakerRuntimeClient({});
  const send = signedFetch('sagemaker', config);

  return {
    /** @throws where the control plane gives no answer. */
    async get(): Promise<Described> {
      const answer = await send({
        url: sageMakerUrl ?? awsUrl('api.sagemaker', await config.region()),
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'SageMaker.DescribeInferenceComponent',
        },
        body: JSON.stringify({ InferenceComponentName: name }),
        withinMs,
      });
      if (!answer.ok) {
        await answer.body?.cancel();
        throw new Error(`SageMaker answered with status ${answer.status}`);
      }
      const description = (await answer.json()) as Description;
      const changedAtMs = Number(description.LastModifiedTime ?? 0) * 1000;
      return { state: stateOf(description), changedAtMs };
    },
  };
}

/** A component whose copies change is `Updating`; its copies say whether it serves. */
export function stateOf({
  InferenceComponentStatus: status,
  RuntimeConfig: copies,
}: Description): ModelState {
  if (status === 'Creating') return 'waking';
  if (status !== 'InService' && status !== 'Updating') return 'unavailable';
  if (Number(copies?.CurrentCopyCount) > 0) return 'ready';
  return Number(copies?.DesiredCopyCount) > 0 ? 'waking' : 'asleep';
}
