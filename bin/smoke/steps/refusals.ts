import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { newApiKey } from '../../../shared/keys/api-key.ts';
import { described, send, type HttpAnswer } from '../http.ts';
import { must, mustHaveMembers } from '../mismatch.ts';
import type { SmokeContext, Step } from '../step.ts';

export const refusesExpiredLink: Step = {
  name: 'a link that has expired is refused',
  async run(context) {
    const { status, bytes } = await send(await expiredLink(context));
    must(status === 403, `it answered ${status}`);
    must(bytes.includes('Request has expired'), 'it was refused, but not for its age');
  },
};

/** A link that expired a minute ago. */
async function expiredLink({ place, world, image }: SmokeContext): Promise<string> {
  const s3 = new S3Client({});
  try {
    const key = `generations/${world.license.licenseId}/${image?.requestId ?? 'none'}/output-0.png`;
    const command = new GetObjectCommand({ Bucket: place.bucketName, Key: key });
    return await getSignedUrl(s3, command, { expiresIn: 1, signingDate: new Date(Date.now() - 60_000) });
  } finally {
    s3.destroy();
  }
}

/** @throws Mismatch unless it is an error of the API with this status and code. */
function mustRefuse(answer: HttpAnswer, status: number, code: string): void {
  must(answer.status === status && answer.json?.code === code, `it answered ${described(answer)}`);
  mustHaveMembers(answer.json, ['error', 'code']);
  must(answer.headers.has('x-request-id'), 'X-Request-Id is missing');
}

function generateWith(bearer: string, { place, world }: SmokeContext): Promise<HttpAnswer> {
  const body = { identityId: world.identity.identityId, prompt: 'this must be refused' };
  return send(`${place.baseUrl}/generate`, { bearer, body });
}

export const refusesWrongKey: Step = {
  name: 'a wrong key is refused: 401 INVALID_API_KEY',
  async run(context) {
    mustRefuse(await generateWith(newApiKey(), context), 401, 'INVALID_API_KEY');
    mustRefuse(await generateWith('not-a-key', context), 401, 'INVALID_API_KEY');
  },
};

export const refusesRevokedKey: Step = {
  name: 'a revoked key is refused from the next request on: 401 INVALID_API_KEY',
  async run(context) {
    const { rawKey, key } = context.issued;
    const before = await send(`${context.place.baseUrl}/identities`, { bearer: rawKey });
    must(before.status === 200, `before it was revoked, it answered ${described(before)}`);
    await context.stores.apiKeys.revoke(key, Date.now());
    mustRefuse(await generateWith(rawKey, context), 401, 'INVALID_API_KEY');
  },
};

export const hasNoOtherRoutes: Step = {
  name: 'a route that is not there answers 404 NOT_FOUND, with a key and without',
  async run({ place }) {
    const url = `${place.baseUrl}/no-such-endpoint`;
    mustRefuse(await send(url), 404, 'NOT_FOUND');
    // On a missing route, API Gateway reads an Authorization header as an AWS signature.
    mustRefuse(await send(url, { bearer: newApiKey() }), 404, 'NOT_FOUND');
    mustRefuse(await send(url, { bearer: newApiKey(), body: {} }), 404, 'NOT_FOUND');
  },
};
