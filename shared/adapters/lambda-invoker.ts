import { S3Client } from '@aws-sdk/client-s3';
import { signedFetch } from './signed-fetch.ts';

export interface Invocation {
  /** `RequestResponse` waits for what the function returns; `Event` only until Lambda has taken the event. */
  type: 'RequestResponse' | 'Event';
  event: object;
  withinMs: number;
}

/**
 * Invokes another function (AWS Lambda API, "Invoke").
 * @param url of the function's invocations.
 * @returns Lambda's answer. Its body must be read or cancelled.
 */
export function lambdaInvoker(url: string) {
  // Any client knows the region and the credentials.
  const send = signedFetch('lambda', new S3Client({}).config);

  return async ({ type, event, withinMs }: Invocation): Promise<Response> => {
    const headers = { 'content-type': 'application/json', 'x-amz-invocation-type': type };
    const answer = await send({ url, headers, body: JSON.stringify(event), withinMs });
    const failed = answer.headers.has('x-amz-function-error');
    if (answer.ok && !failed) return answer;
    await answer.body?.cancel();
    throw new Error(failed ? 'the function failed' : `Lambda answered with status ${answer.status}`);
  };
}
