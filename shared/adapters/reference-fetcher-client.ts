import { S3Client } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import {
  fetchReferencesAnswer,
  type FetchReferencesAnswer,
  type FetchReferencesCommand,
} from '../contracts/reference-images.ts';
import { ServiceError } from '../errors.ts';
import { freshFetch } from './fresh-fetch.ts';

/** Fetching, storing, and a cold start. */
const answerWithinMs = 12_000;

export type ReferenceFetcherClient = ReturnType<typeof referenceFetcherClient>;

/**
 * Has references fetched by the function that may do nothing else (AWS Lambda API, "Invoke"). The request is signed
 * here because Lambda's SDK client would make every bundle that has it a tenth larger, for one call.
 * @param url of the function's invocations.
 */
export function referenceFetcherClient(url: string) {
  // Any client knows the region and the credentials.
  const { config } = new S3Client({});
  const signer = new SignatureV4({
    service: 'lambda',
    region: config.region,
    credentials: config.credentials,
    sha256: config.sha256,
  });

  return {
    /** @throws SERVICE_UNAVAILABLE when it could not be done; trying again may help. */
    async fetch(command: FetchReferencesCommand): Promise<FetchReferencesAnswer['problems']> {
      try {
        const { problems } = fetchReferencesAnswer.parse(await invoke(command));
        if (problems.length !== command.items.length) throw new Error('an answer for other items');
        return problems;
      } catch (cause) {
        throw new ServiceError(
          'SERVICE_UNAVAILABLE',
          "Reference images can't be read at the moment. Try again shortly.",
          { cause },
        );
      }
    },
  };

  async function invoke(command: FetchReferencesCommand): Promise<unknown> {
    const { protocol, hostname, port, pathname, host } = new URL(url);
    const body = JSON.stringify(command);
    const { headers } = await signer.sign({
      method: 'POST',
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: pathname,
      query: {},
      headers: { host, 'content-type': 'application/json' },
      body,
    });
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await freshFetch(url, { method: 'POST', headers, body, signal });
    const failed = answer.headers.has('x-amz-function-error');
    if (answer.ok && !failed) return answer.json();
    await answer.body?.cancel();
    throw new Error(failed ? 'the function failed' : `Lambda answered with status ${answer.status}`);
  }
}
