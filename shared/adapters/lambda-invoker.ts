import { S3Client } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { freshFetch } from './fresh-fetch.ts';

export interface Invocation {
  /** `RequestResponse` waits for what the function returns; `Event` only until Lambda has taken the event. */
  type: 'RequestResponse' | 'Event';
  event: object;
  withinMs: number;
}

/**
 * Invokes another function (AWS Lambda API, "Invoke"). The request is signed here because Lambda's SDK client would make
 * every bundle that has it a tenth larger, for one call.
 * @param url of the function's invocations.
 * @returns Lambda's answer. Its body must be read or cancelled.
 */
export function lambdaInvoker(url: string) {
  // Any client knows the region and the credentials.
  const { config } = new S3Client({});
  const signer = new SignatureV4({
    service: 'lambda',
    region: config.region,
    credentials: config.credentials,
    sha256: config.sha256,
  });

  return async ({ type, event, withinMs }: Invocation): Promise<Response> => {
    const { protocol, hostname, port, pathname, host } = new URL(url);
    const body = JSON.stringify(event);
    const { headers } = await signer.sign({
      method: 'POST',
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: pathname,
      query: {},
      headers: { host, 'content-type': 'application/json', 'x-amz-invocation-type': type },
      body,
    });
    const answer = await freshFetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(withinMs),
    });
    const failed = answer.headers.has('x-amz-function-error');
    if (answer.ok && !failed) return answer;
    await answer.body?.cancel();
    throw new Error(failed ? 'the function failed' : `Lambda answered with status ${answer.status}`);
  };
}
