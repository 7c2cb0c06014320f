import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { signAccessToken } from '../../local/cognito/tokens.ts';
import { dataFolder, readServiceFile } from '../../local/data-folder.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { errorBody } from '../../shared/base/error-contract.ts';
import type { GenerationAnswer } from '../../shared/generations/answer-contract.ts';
import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import type { Stores } from '../common/stores.ts';
import { must, mustAnswer, mustMatch, send, type HttpAnswer, type HttpRequest } from './answers.ts';
import type { IssuedKey, SmokeFixture } from './fixture.ts';
import type { SmokePlace } from './place.ts';

/** What the checks share. */
export interface SmokeContext {
  place: SmokePlace;
  stores: Stores;
  fixture: SmokeFixture;
  issued: IssuedKey;
  /** The generated image, once there is one. */
  image: GenerationAnswer | null;
}

/** What is generated: an image that no other check makes. */
export const asked = {
  prompt: 'a calm night over the mountains',
  seed: 7,
  numInferenceSteps: 20,
  guidanceScale: 7.5,
  width: 512,
  height: 512,
};

/** @param call its method and its path, as "GET /health" */
export function ask({ place }: Pick<SmokeContext, 'place'>, call: string, request: HttpRequest = {}) {
  const [method, path] = call.split(' ');
  return send(place.baseUrl + path, call, { method: method!, ...request });
}

export function generate(context: SmokeContext, request: HttpRequest, order: object = asked) {
  const body = { identityId: context.fixture.identity.identityId, ...order };
  return ask(context, 'POST /generate', { bearer: context.issued.rawKey, body, ...request });
}

/** The generation that is charged, however often it is sent. Its time-out is longer than any generation may take. */
export function generateOnce(context: SmokeContext, status?: number): Promise<HttpAnswer> {
  const headers = { 'idempotency-key': context.fixture.license.ownerId };
  return generate(context, { headers, timeoutMs: 480_000, ...(status && { status }) });
}

/** Of the temporary license, whose period began with it. */
export function totalsOf({ stores, fixture: { license } }: SmokeContext) {
  return stores.periods.get(license.licenseId, creditPeriod(license, Date.now()).startMs);
}

/** @throws Mismatch unless so many credits are charged, and none is held */
export async function mustBeCharged(context: SmokeContext, credits: 0 | 1) {
  const totals = await totalsOf(context);
  const { used, committed } = totals;
  const isSo = used === credits && committed === credits;
  must(isSo, `${used} credits are used and ${committed - used} held, not ${credits} and 0`);
  return totals;
}

/** @throws Mismatch unless it is an error of the API with this status and code */
export function mustRefuse(answer: HttpAnswer, status: number, code: string): void {
  mustAnswer(answer, status, 'it', code);
  mustMatch(errorBody, answer.json);
  must(answer.headers['x-request-id'] !== undefined, 'X-Request-Id is missing');
}

/** @throws Mismatch unless a link opens an image as it was asked for */
export async function mustOpen(link: string): Promise<void> {
  const { headers, bytes } = await send(link, 'the link', { status: 200 });
  must(headers['content-type'] === 'image/png', 'the Content-Type is not image/png');
  must(bytes.toString('hex', 0, 8) === '89504e470d0a1a0a' && bytes.length > 24, 'the bytes are no PNG');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  must(width === asked.width && height === asked.height, `the image has ${width} × ${height} pixels`);
}

/** A link that expired a minute ago. */
export async function expiredLink({ place, fixture, image }: SmokeContext): Promise<string> {
  const client = new S3Client({});
  const Key = `generations/${fixture.license.licenseId}/${image?.requestId ?? 'none'}/output-0.png`;
  const command = new GetObjectCommand({ Bucket: place.bucketName, Key });
  const signingDate = new Date(Date.now() - 60_000);
  return getSignedUrl(client, command, { expiresIn: 1, signingDate }).finally(() => client.destroy());
}

/** Of the temporary license's owner, who has no account: it is signed with the local pool's key. */
export function localSession({ place, fixture }: SmokeContext, folder: string): Promise<string> {
  const { signIn } = readServiceFile(dataFolder(folder));
  must(signIn !== null, 'the local service has no sign-in');
  const { signingKey } = signIn;
  const account = { sub: fixture.license.ownerId };
  const settings = sessionSettings(place.signIn.domainUrl);
  return signAccessToken({ ...settings, signingKey, account, lifetimeSeconds: 300 });
}
