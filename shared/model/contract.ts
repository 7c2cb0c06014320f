import * as z from 'zod/mini';
import type { OutputFormat } from '../images/image-types.ts';

/**
 * The contract between the service and a model container, behind SageMaker's `POST /invocations`.
 *
 * The service sends one JSON object and reads newline-delimited JSON events. The container uploads its images
 * to the presigned links itself, so no image byte crosses the service. It emits `queued` if the request must wait, and
 * again whenever it moves up; `started` when the model begins; `progress`; and exactly one closing event, `completed` or
 * `failed`. It is never silent for more than 10 seconds.
 */
export interface ModelRequest {
  requestId: string;
  /** ISO 8601 UTC. The container stops by then, whatever it is doing. */
  deadline: string;
  /**
   * Whose request it is, an opaque digest: the container shares its time fairly between tenants. A service that is older
   * than this member leaves it out. Such a request gets `started` at once and never `queued`.
   */
  tenant: string;
  /**
   * Which trace the request is part of, as its caller named it (W3C Trace Context, version 00: 55 characters). It is left
   * out where the caller named none, and a service that is older than this member leaves it out.
   */
  traceparent?: string;
  prompt: string;
  negativePrompt: string;
  /** 0 … 2^32 − 1. Output i is made with (seed + i) mod 2^32, exactly as a request of its own would be. */
  seed: number;
  numInferenceSteps: number;
  guidanceScale: number;
  /** Pixels. */
  width: number;
  height: number;
  numOutputs: number;
  /**
   * What the images are put as. Lossy ones have quality 90. A service that is older than this member leaves it out
   * and means `png`.
   */
  outputFormat: OutputFormat;
  /**
   * Whether the files' metadata has the parameters, the prompt too. Otherwise it has the model's version, the seed, the
   * size, and that a model made the image. A service that is older than this member leaves it out and means false.
   */
  embedParameters: boolean;
  referenceMode: 'exact_product' | 'reference';
  preserveBranding: boolean;
  /** Presigned GET links, at most 4. */
  references: { url: string }[];
  identity: {
    id: string;
    /** Presigned GET link to the identity's adapter weights, null when it has none. */
    adapterUrl: string | null;
    adapterVersion: string | null;
    /** The identity's version, for the file's metadata. A service that is older than versions leaves it out. */
    version: number;
    /** Lower-case hex of the file behind `adapterUrl`, null when it is not known. */
    adapterSha256: string | null;
    settings: Record<string, unknown>;
  };
  /**
   * One presigned PUT link per output, to be sent `content-type: image/png`, `image/webp` or `image/jpeg`, as
   * `outputFormat` says: the link is signed for that type and refuses any other.
   *
   * `previewPutUrl` is a presigned PUT link for the output's preview, a WebP within `previewLimits`. It must be sent
   * `content-type: image/webp` and `cache-control: <previewCacheControl>`, and refuses anything else. A service that is
   * older than previews leaves it out. A preview that can't be made or put in a few seconds is left out of `completed`:
   * it never fails a request, and never delays one past its deadline.
   */
  outputs: { putUrl: string; previewPutUrl: string }[];
  /**
   * A presigned GET link, to be asked about once a second for as long as the request is not ended: 200 means that it was
   * cancelled, and the container stops within two seconds and ends it with `failed`, reason `cancelled`. Every other answer,
   * and none, means that it was not. Left out where nobody can cancel, and by a service that is older than this member.
   */
  cancelUrl?: string;
  /**
   * How the images and references of this request are checked, where that is not as the container's settings say: `exempt` for not at
   * all, or the score from which each of these categories is refused; categories that the container does not know are passed over.
   * A service that is older than this member leaves it out.
   */
  pictureCheck?: 'exempt' | Readonly<Record<string, number>>;
}

/** Asks whether a container is up. It answers with one event, `ready` or any other. */
export interface ModelProbe {
  probe: true;
}

const count = z.int().check(z.gte(0));
const pixels = z.int().check(z.gte(1), z.lte(16384));

export const modelOutput = z.object({
  bytes: z.int().check(z.gte(1)),
  /** Lower-case hex of the uploaded file. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  width: pixels,
  height: pixels,
  /** Of the preview that lies at its link by now. A container that has put none, or is older than previews, says nothing. */
  previewBytes: z.optional(z.nullable(z.int().check(z.gte(1)))),
});

export const modelEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('ready'), modelVersion: z.string() }),
  z.object({
    event: z.literal('queued'),
    /** How many requests begin before it, plus one. */
    position: z.int().check(z.gte(1)),
    /** Until it is expected to begin; 0 before anything was measured. */
    etaSeconds: count,
  }),
  z.object({ event: z.literal('started') }),
  z.object({ event: z.literal('progress'), step: count, steps: count }),
  z.object({
    event: z.literal('completed'),
    outputs: z.array(modelOutput),
    referenceImagesUsed: count,
    modelVersion: z.string().check(z.maxLength(200)),
  }),
  z.object({
    event: z.literal('failed'),
    reason: z.string(),
    message: z.string(),
    /** The index in the request of the reference image that it is about. */
    reference: z.optional(count),
    /** What content was refused for, in the operator's words. A container that is older than pictures' checks refuses none. */
    categories: z.optional(z.array(z.string())),
  }),
]);

export type ModelEvent = z.infer<typeof modelEvent>;
export type ModelOutput = z.infer<typeof modelOutput>;
export type ModelCompleted = Extract<ModelEvent, { event: 'completed' }>;

/** The reasons a container gives in `failed`; the service treats any other as `model_error`. */
export const modelFailureReasons = [
  'invalid_request', // the request does not fit this contract
  'busy', // the images could not be ready by the deadline, or too many requests wait
  'unavailable', // the model is lost and its server is being restarted
  'deadline', // the deadline came first
  'cancelled', // its `cancelUrl` said so
  'adapter_unavailable', // the identity's adapter could not be fetched or verified
  'reference_unreadable', // a reference image could not be fetched
  'reference_invalid', // a reference image could not be decoded or shows nothing: the caller's fault
  'content_refused', // the operator's check refused an image or a reference image: nothing was put. An older service knows no such reason
  'upload_failed', // an image could not be put to its link
  'model_error', // anything else; `message` says what, for the log
] as const;
