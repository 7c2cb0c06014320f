import {
  generateAsync,
  waitForGeneration,
  type GenerateAsyncOptions,
  type PendingGeneration,
} from './generate-async.ts';
import { generate, type GenerateOptions } from './generate.ts';
import { createRequester, type Requester, type RequesterOptions } from './requester.ts';
import type { CallOptions, RouteInit } from './routes.ts';
import type { WaitOptions } from './stored.ts';
import type {
  DryRun,
  GenerationRequest,
  GenerationResult,
  Health,
  Identity,
  StoredGeneration,
  StoredGenerationList,
  Upload,
} from './types.ts';
import { uploadReference, type UploadOptions } from './upload.ts';

export interface ClientOptions extends Omit<RequesterOptions, 'tokens'> {
  /** `svc_live_…` */
  apiKey: string;
}

/** The filters of GET /generate. */
export type GenerationQuery = Omit<NonNullable<RouteInit<'GET /generate'>['query']>, 'licenseId'>;

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
 * const { outputs } = await client.generate({ identityId, prompt: 'a quiet bay' });
 */
export function createClient({ apiKey, ...options }: ClientOptions) {
  const send = options.fetch ?? fetch;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const requester = createRequester({ ...options, baseUrl, tokens: { accessToken: () => apiKey } });
  const { request } = requester;

  const listGenerations = (
    query: GenerationQuery = {},
    { signal }: CallOptions = {},
  ): Promise<StoredGenerationList> => request('GET /generate', { query, signal });

  const getGeneration = (requestId: string, { signal }: CallOptions = {}): Promise<StoredGeneration> =>
    request('GET /generate/{requestId}', { path: { requestId }, signal });

  return {
    /** Generates and resolves once the images are stored. It is charged once, however often the connection breaks. */
    generate: (body: GenerationRequest, more?: GenerateOptions): Promise<GenerationResult> =>
      generate(requester, 'POST /generate', body, more),

    /**
     * Asks for images and resolves once the request is accepted. It then runs without a connection: keep its `requestId`,
     * or `wait()` for the images.
     */
    async generateAsync(body: GenerationRequest, more?: GenerateAsyncOptions): Promise<PendingGeneration> {
      const accepted = await generateAsync(requester, 'POST /generate', body, more);
      const { requestId } = accepted;
      return {
        ...accepted,
        status: (how) => getGeneration(requestId, how),
        wait: (how) => waitForGeneration(requester, requestId, how),
      };
    },

    /** Waits until a request has ended. Throws its error if it failed, as `generate` does. */
    waitForGeneration: (requestId: string, more?: WaitOptions): Promise<GenerationResult> =>
      waitForGeneration(requester, requestId, more),

    /** Tells what `generate` would cost, or throws the refusal that it would have. Charges, holds and stores nothing. */
    dryRun: (body: GenerationRequest, { signal }: CallOptions = {}): Promise<DryRun> =>
      request('POST /generate', { query: { dryRun: true }, body, signal }) as Promise<DryRun>,

    /** A stored request, with newly signed links. */
    getGeneration,

    /** A page of stored requests, newest first. */
    listGenerations,

    /** All stored requests, newest first, fetched page by page: `for await (const one of client.allGenerations()) …` */
    async *allGenerations(
      query: GenerationQuery = {},
      more?: CallOptions,
    ): AsyncGenerator<StoredGeneration, void, void> {
      let cursor = query.cursor;
      do {
        const page = await listGenerations({ ...query, cursor }, more);
        yield* page.generations;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
    },

    /** The identities that the key may use. */
    listIdentities: async ({ signal }: CallOptions = {}): Promise<Identity[]> =>
      (await request('GET /identities', { signal })).identities,

    /** Opens an upload: a form that takes one file, for an hour. */
    createUpload: ({ contentType, signal }: UploadOptions = {}): Promise<Upload> =>
      request('POST /uploads', { body: { ...(contentType && { contentType }) }, signal }),

    /** Uploads a reference image. Resolves to its `uploadId`, which is valid in `referenceImages` for an hour. */
    uploadReference: (file: Blob | ArrayBuffer | Uint8Array, more: UploadOptions = {}): Promise<string> =>
      uploadReference(requester, file, more, send),

    /** Whether the API and the models are up. */
    health: ({ signal }: CallOptions = {}): Promise<Health> => request('GET /health', { signal }),

    /** Any route by its method and path, typed: `client.request('GET /generate', { query: { limit: 5 } })`. */
    request: request as Requester['request'],
  };
}
