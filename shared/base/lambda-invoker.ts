import { S3Client } from '@aws-sdk/client-s3';
import { serviceBusy } from './errors.ts';
import { statusError } from './fresh-fetch.ts';
import { signedFetch } from './signed-fetch.ts';

export interface Invocation {
  event: object;
  withinMs: number;
}

/**
 * Invokes another function and waits for what it returns (AWS Lambda API, "Invoke").
 * @param url of the function's invocations.
 * @returns Lambda's answer. Its body must be read or cancelled.
 * @throws FinalAnswer where Lambda does not take such an invocation; another error where it may take the next one.
 */
export function lambdaInvoker(url: string) {
  // Any client knows the region and the credentials.
  const send = signedFetch('lambda', new S3Client({}).config);

  return async ({ event, withinMs }: Invocation): Promise<Response> => {
    const headers = { 'content-type': 'application/json', 'x-amz-invocation-type': 'RequestResponse' };
    const answer = await send({ url, headers, body: JSON.stringify(event), withinMs });
    const failed = answer.headers.has('x-amz-function-error');
    if (answer.ok && !failed) return answer;
    await answer.body?.cancel();
    if (failed) throw new Error('the function failed');
    const failure = statusError(answer.status, `Lambda answered with status ${answer.status}`);
    // The account runs as many functions at once as it may.
    throw answer.status === 429 ? serviceBusy(failure, true) : failure;
  };
}
