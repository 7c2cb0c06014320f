import { batch, type BatchLine, type BatchOptions, type BatchSummary } from './batch.ts';
import { variable } from './environment.ts';
import { generateEvents, type GenerateEventsOptions, type GenerationEvent } from './generate-events.ts';
import { generate, type GenerateOptions } from './generate.ts';
import { withImages, type ImageSource, type WithImages } from './images.ts';
import { preparing, type GenerationBody } from './references.ts';
import { createRequester, type Requester, type RequesterOptions } from './requester.ts';
import {
  respondAsync,
  waitForGeneration,
  type PendingGeneration,
  type RespondAsyncOptions,
} from './respond-async.ts';
import type { CallOptions, RouteInit } from './routes.ts';
import { cancelGeneration, deleteGeneration, type WaitOptions } from './stored.ts';
import type {
  DeletedGeneration,
  DryRun,
  GenerationResult,
  Health,
  Identity,
  IdentityDetail,
  KeyAllowance,
  StoredGeneration,
  StoredGenerationList,
  Upload,
} from './types.ts';
import { uploadReference, type UploadFile, type UploadOptions } from './upload.ts';

export interface ClientOptions extends Omit<RequesterOptions, 'tokens' | 'baseUrl'> {
  /** `svc_live_…`; the environment's IMAGE_API_KEY by default. */
  apiKey?: string | undefined;
  /** Ends in `/api/v1`; the environment's IMAGE_BASE_URL by default. */
  baseUrl?: string | undefined;
}

/** The filters of GET /generate. */
export type GenerationQuery = Omit<NonNullable<RouteInit<'GET /generate'>['query']>, 'licenseId'>;

/** A page of stored requests, each with its images. */
export interface GenerationPage extends StoredGenerationList {
  generations: WithImages<StoredGeneration>[];
}

export type Client = ReturnType<typeof createClient>;

/**
 * A client of the service for one API key.
 *
 * Every call may throw ApiError, ConnectionError or TimeoutError. Every call takes a `signal`; when it aborts, its reason
 * is thrown. Calls to a busy service (429, 503) are repeated after 1, 2, 4 … at most 60 seconds, or after the `Retry-After`
 * of the answer. If that is more than 60 seconds, the error is thrown at once.
 *
 * @example
 * const client = createClient({ apiKey, baseUrl: 'https://images.example.com/api/v1' });
 * const image = await client.generate({ identityId, prompt: 'a quiet bay' });
 * await image.save('bay.png');
 */
export function createClient(options: ClientOptions = {}) {
  const apiKey = options.apiKey ?? variable('IMAGE_API_KEY', 'apiKey');
  const baseUrl = (options.baseUrl ?? variable('IMAGE_BASE_URL', 'baseUrl')).replace(/\/+$/, '');
  const send = options.fetch ?? fetch;
  const requester = createRequester({ ...options, baseUrl, tokens: { accessToken: () => apiKey } });
  return {
    ...generationCalls({ requester, send }),
    ...storedCalls({ requester, send }),
    ...otherCalls({ requester, send }),
  };
}

/** The calls that ask for images. */
function generationCalls(source: ImageSource) {
  const { requester } = source;
  const route = 'POST /generate';
  const prepare = preparing(source);
  const result = (answer: GenerationResult): WithImages<GenerationResult> =>
    withImages(source, answer.requestId, answer);
  const wait = async (requestId: string, more?: WaitOptions): Promise<WithImages<GenerationResult>> =>
    result(await waitForGeneration(requester, requestId, more));

  return {
    /** Generates and resolves once the images are stored. It is charged once, however often the connection breaks. */
    generate: async (body: GenerationBody, more?: GenerateOptions): Promise<WithImages<GenerationResult>> =>
      result(await generate(requester, route, await prepare(body, more), more)),

    /**
     * Generates like `generate`, and yields what happens; the last is `completed`. It begins when it is iterated.
     * @example for await (const event of client.generateEvents(body)) if (event.type === 'progress') …
     */
    async *generateEvents(
      body: GenerationBody,
      more?: GenerateEventsOptions,
    ): AsyncGenerator<GenerationEvent<WithImages<GenerationResult>>, void, void> {
      for await (const event of generateEvents(requester, route, await prepare(body, more), more)) {
        yield event.type === 'completed' ? { ...event, result: result(event.result) } : event;
      }
    },

    /**
     * Asks for images and resolves once the request is accepted. It then runs without a connection: keep its `requestId`,
     * or `wait()` for the images.
     */
    async respondAsync(body: GenerationBody, more?: RespondAsyncOptions): Promise<PendingGeneration> {
      const accepted = await respondAsync(requester, route, await prepare(body, more), more);
      const { requestId } = accepted;
      return {
        ...accepted,
        status: (how) => getGeneration(source, requestId, how),
        wait: (how) => wait(requestId, how),
        cancel: (how) => cancel(source, requestId, how),
      };
    },

    /** Waits until a request has ended, whoever sent it. Throws its error if it failed, as `generate` does. */
    waitForGeneration: wait,

    /** Answers what `generate` would cost, or throws the refusal that it would have. Charges, holds and stores nothing. */
    dryRun: async (given: GenerationBody, { signal }: CallOptions = {}): Promise<DryRun> => {
      const body = await prepare(given, { signal });
      return requester.request(route, { query: { dryRun: true }, body, signal }) as Promise<DryRun>;
    },

    /**
     * Generates the images of thousands of lines, as fast as the key's limits allow. Call it again with the same lines, `batchId` and
     * `store` to go on after a crash: within a day nothing is charged twice.
     * @example await client.batch(lines, { batchId: 'spring', store: await batchFile('spring.state'), onResult: save })
     */
    batch: (
      lines: Iterable<BatchLine> | AsyncIterable<BatchLine>,
      options: BatchOptions,
    ): Promise<BatchSummary> =>
      batch(
        { requester, prepare, withImages: result, key: (how) => requester.request('GET /key', how) },
        lines,
        options,
      ),
  };
}

async function getGeneration(
  source: ImageSource,
  requestId: string,
  { signal }: CallOptions = {},
): Promise<WithImages<StoredGeneration>> {
  const init = { path: { requestId }, signal };
  const stored = await source.requester.request('GET /generate/{requestId}', init);
  return withImages(source, requestId, stored);
}

async function cancel(
  source: ImageSource,
  requestId: string,
  more?: CallOptions,
): Promise<WithImages<StoredGeneration>> {
  return withImages(source, requestId, await cancelGeneration(source.requester, requestId, more));
}

/** The calls that look at stored requests, and end them. */
function storedCalls(source: ImageSource) {
  const listGenerations = async (
    query: GenerationQuery = {},
    { signal }: CallOptions = {},
  ): Promise<GenerationPage> => {
    const page = await source.requester.request('GET /generate', { query, signal });
    const generations = page.generations.map((stored) => withImages(source, stored.id, stored));
    return { ...page, generations };
  };

  return {
    /** A stored request, with newly signed links. */
    getGeneration: (requestId: string, more?: CallOptions): Promise<WithImages<StoredGeneration>> =>
      getGeneration(source, requestId, more),

    /** Ends a request that has not ended: nothing is charged. Of one that was cancelled before the answer is the same. */
    cancel: (requestId: string, more?: CallOptions): Promise<WithImages<StoredGeneration>> =>
      cancel(source, requestId, more),

    /** Deletes a request that has ended, with its images, its prompt and all else that is stored of it. For good. */
    deleteGeneration: (requestId: string, more?: CallOptions): Promise<DeletedGeneration> =>
      deleteGeneration(source.requester, requestId, more),

    /** A page of stored requests, newest first. */
    listGenerations,

    /** All stored requests, newest first, fetched page by page: `for await (const one of client.allGenerations()) …` */
    async *allGenerations(
      query: GenerationQuery = {},
      more?: CallOptions,
    ): AsyncGenerator<WithImages<StoredGeneration>, void, void> {
      let cursor = query.cursor;
      do {
        const page = await listGenerations({ ...query, cursor }, more);
        yield* page.generations;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
    },
  };
}

function otherCalls({ requester, send }: ImageSource) {
  const { request } = requester;
  return {
    /** The identities that the key may use. */
    listIdentities: async ({ signal }: CallOptions = {}): Promise<Identity[]> =>
      (await request('GET /identities', { signal })).identities,

    /** An identity by its id or a slug, with the versions that `identityVersion` may name. */
    getIdentity: (idOrSlug: string, { signal }: CallOptions = {}): Promise<IdentityDetail> =>
      request('GET /identities/{identityId}', { path: { identityId: idOrSlug }, signal }),

    /** What the key may still do: its limits, credits and identities. */
    key: ({ signal }: CallOptions = {}): Promise<KeyAllowance> => request('GET /key', { signal }),

    /** Opens an upload: a form that takes one file, for an hour. */
    createUpload: ({ contentType, signal }: UploadOptions = {}): Promise<Upload> =>
      request('POST /uploads', { body: { ...(contentType && { contentType }) }, signal }),

    /** Uploads a reference image. Resolves to its `uploadId`, which is valid in `referenceImages` for an hour. */
    uploadReference: (file: UploadFile, more: UploadOptions = {}): Promise<string> =>
      uploadReference(requester, file, more, send),

    /** Whether the API and the models are up. */
    health: ({ signal }: CallOptions = {}): Promise<Health> => request('GET /health', { signal }),

    /** Any route by its method and path, typed: `client.request('GET /generate', { query: { limit: 5 } })`. */
    request: request as Requester['request'],
  };
}
