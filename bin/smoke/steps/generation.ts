import { setTimeout as pause } from 'node:timers/promises';
import type { GenerationAnswer, StoredGeneration } from '../../../shared/generations/answer-contract.ts';
import { previewCacheControl } from '../../../shared/images/previews.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { isRequestId } from '../../../shared/base/ids.ts';
import { counted } from '../../common/output.ts';
import { described, send, type HttpAnswer } from '../http.ts';
import { must, mustEqual, mustHaveMembers } from '../mismatch.ts';
import { withoutImage, type SmokeContext, type Step } from '../step.ts';

/** Longer than any generation may take. */
const generationTimeoutMs = 480_000;
const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

const asked = {
  prompt: 'a calm night over the mountains',
  seed: 7,
  numInferenceSteps: 20,
  guidanceScale: 7.5,
  width: 512,
  height: 512,
};

function generate({ place, world, issued }: SmokeContext): Promise<HttpAnswer> {
  return send(`${place.baseUrl}/generate`, {
    bearer: issued.rawKey,
    headers: { 'idempotency-key': world.license.ownerId },
    body: { identityId: world.identity.identityId, ...asked },
    timeoutMs: generationTimeoutMs,
  });
}

/** Asked again so often, and for so long, until a model that sleeps is awake. */
const askAgainMs = 10_000;
const wakingTimeoutMs = 20 * 60_000;

/** As `generate`. A model that sleeps refuses the first request, and wakes by it: nothing is charged until it paints. */
async function generateAwake(context: SmokeContext): Promise<HttpAnswer> {
  const untilMs = Date.now() + wakingTimeoutMs;
  for (;;) {
    const answer = await generate(context);
    const mayWake = answer.status === 503 && Date.now() < untilMs && (await sleepsOrWakes(context));
    if (!mayWake) return answer;
    await pause(askAgainMs);
  }
}

async function sleepsOrWakes({ place }: SmokeContext): Promise<boolean> {
  const { json } = await send(`${place.baseUrl}/health`);
  return json?.model === 'asleep' || json?.model === 'waking';
}

/** The period totals of the temporary license; its period began with it. */
export function totalsOf({ stores, world: { license } }: SmokeContext) {
  const { startMs } = creditPeriod(license, Date.now());
  return stores.periods.get(license.licenseId, startMs);
}

export const generatesImage: Step = {
  name: 'an image is generated and one credit charged',
  skip: ({ place }) => (place.hasModel ? null : 'the stack has no model'),
  async run(context) {
    const answer = await generateAwake(context);
    must(answer.status === 200, `POST /generate answered ${described(answer)}`);
    checkGeneration(answer, context);
    context.image = answer.json;
  },
};

function checkGeneration({ headers, json }: HttpAnswer, { place, world }: SmokeContext): void {
  const members = [
    'requestId',
    'outputs',
    'previews',
    'identity',
    'referenceImagesUsed',
    'usage',
    'processingTimeMs',
    'seed',
  ];
  mustHaveMembers(json, members);
  const { identityId, name } = world.identity;
  mustEqual(json, { identity: { id: identityId, name }, referenceImagesUsed: 0, seed: asked.seed });
  const { requestId, outputs, usage, processingTimeMs } = json as GenerationAnswer;
  must(isRequestId(requestId), 'requestId is no request id');
  must(headers.get('x-request-id') === requestId, 'X-Request-Id is not the requestId');
  must(Array.isArray(outputs) && outputs.length === 1, 'outputs must hold one link');
  const { protocol } = new URL(place.baseUrl);
  must(
    URL.canParse(outputs[0]!) && new URL(outputs[0]!).protocol === protocol,
    `the link must be ${protocol}//…`,
  );
  must(Number.isInteger(processingTimeMs) && processingTimeMs > 0, 'processingTimeMs must be milliseconds');
  const usageMembers = [
    'creditsUsed',
    'creditsLimit',
    'creditsRemaining',
    'creditsCharged',
    'periodResetDate',
  ];
  mustHaveMembers(usage, usageMembers);
  const { creditsLimit } = world.license;
  mustEqual(usage, { creditsUsed: 1, creditsLimit, creditsRemaining: creditsLimit - 1, creditsCharged: 1 });
  must(Date.parse(usage.periodResetDate) > Date.now(), 'periodResetDate must be in the future');
}

export const refusesWithoutModel: Step = {
  name: 'without a model a generation is refused and nothing is charged or held',
  skip: ({ place }) => (place.hasModel ? 'the service has a model' : null),
  async run(context) {
    const answer = await generate(context);
    const refused = answer.status === 503 && answer.json?.code === 'SERVICE_UNAVAILABLE';
    must(refused, `POST /generate answered ${described(answer)}`);
    must(Number(answer.headers.get('retry-after')) > 0, 'Retry-After is missing');
    const { used, committed } = await totalsOf(context);
    must(used === 0, `${counted(used, 'credit')} charged`);
    must(committed === 0, `${counted(committed, 'credit')} held`);
  },
};

export const opensLink: Step = {
  name: 'its link opens: a PNG of the size asked for',
  skip: withoutImage,
  async run({ image }) {
    await checkImage(image!.outputs[0]!);
    const [preview] = image!.previews;
    // A model that is older than previews makes none.
    if (preview) await checkPreview(preview);
  },
};

async function checkPreview(link: string): Promise<void> {
  const { status, headers } = await send(link);
  must(status === 200, `the preview's link answered ${status}`);
  must(headers.get('content-type') === 'image/webp', "the preview's Content-Type is not image/webp");
  must(headers.get('cache-control') === previewCacheControl, "the preview's Cache-Control is another");
}

async function checkImage(link: string): Promise<void> {
  const { status, headers, bytes } = await send(link);
  must(status === 200, `the link answered ${status}`);
  must(headers.get('content-type') === 'image/png', 'the Content-Type is not image/png');
  must(bytes.subarray(0, 8).equals(pngSignature) && bytes.length > 24, 'the bytes are no PNG');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  must(width === asked.width && height === asked.height, `the image has ${width} × ${height} pixels`);
}

export const refetchesRequest: Step = {
  name: 'the stored request tells the same, with a fresh link',
  skip: withoutImage,
  async run({ place, world, issued, image }) {
    const first = image!;
    const answer = await send(`${place.baseUrl}/generate/${first.requestId}`, { bearer: issued.rawKey });
    must(answer.status === 200, `GET /generate/{requestId} answered ${described(answer)}`);
    const stored = answer.json as StoredGeneration;
    const { identityId, name, slug } = world.identity;
    mustEqual(answer.json, {
      id: first.requestId,
      licenseId: world.license.licenseId,
      type: 'text_to_image',
      status: 'COMPLETED',
      identity: { id: identityId, name, slug },
      prompt: asked.prompt,
      seed: first.seed,
      steps: asked.numInferenceSteps,
      cfgScale: asked.guidanceScale,
      width: asked.width,
      height: asked.height,
      numOutputs: 1,
      outputUrl: stored.outputs?.[0],
      errorMessage: null,
      errorCode: null,
      creditsCharged: 1,
      processingTimeMs: first.processingTimeMs,
    });
    must(stored.outputs.length === 1, 'outputs must hold one link');
    const [before, after] = [new URL(first.outputs[0]!), new URL(stored.outputs[0]!)];
    must(before.pathname === after.pathname, 'the link is of another image');
    must(signedAt(after) >= signedAt(before), 'the link was not signed anew');
    await checkImage(after.href);
  },
};

function signedAt(link: URL): string {
  return link.searchParams.get('X-Amz-Date') ?? '';
}

export const repeatsFree: Step = {
  name: 'a repeated Idempotency-Key answers the same request and charges nothing',
  skip: withoutImage,
  async run(context) {
    const answer = await generate(context);
    must(answer.status === 200, `POST /generate answered ${described(answer)}`);
    must(answer.headers.get('idempotent-replayed') === 'true', 'Idempotent-Replayed is missing');
    must(answer.json?.requestId === context.image!.requestId, 'it is another request');
    const { used, committed } = await totalsOf(context);
    must(used === 1 && committed === 1, `${used} credits are used and ${committed - used} held, not 1 and 0`);
  },
};
