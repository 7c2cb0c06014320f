import { chunksOf } from './chunks.ts';
import { files } from './environment.ts';
import {
  ConnectionError,
  DownloadError,
  storageCodeOf,
  StorageError,
  TimeoutError,
  withRequestId,
} from './errors.ts';
import { withTimeout, type Requester } from './requester.ts';
import { isTransient } from './retry.ts';
import type { CallOptions } from './routes.ts';

/** An answer that has its images. */
export type WithImages<T> = T & Images;

/** What fetches images: the API's requester signs links, `send` opens them without the key. */
export interface ImageSource {
  requester: Requester;
  send: typeof fetch;
}

// Until the answer begins. After that it may take as long as bytes come.
const answerTimeoutMs = 60_000;
const retryForMs = 60_000;
// What the storage answers for a link that has expired, or whose signer's credentials have.
const refusedLinks = [400, 401, 403, 404];

/** The present links of a stored request. All its images share them, so that new ones are signed once. */
class Links {
  outputs: string[];
  #signing: Promise<void> | undefined;
  readonly requestId: string;
  readonly #source: ImageSource;

  constructor(source: ImageSource, requestId: string, outputs: string[]) {
    this.#source = source;
    this.requestId = requestId;
    this.outputs = outputs;
  }

  /** Replaces the links, unless the refused one was replaced already. */
  async renew(index: number, refused: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.outputs[index] !== refused) return;
    this.#signing ??= this.#sign(signal).finally(() => (this.#signing = undefined));
    await this.#signing;
  }

  async #sign(signal: AbortSignal | undefined): Promise<void> {
    const init = { path: { requestId: this.requestId }, signal };
    this.outputs = (await this.#source.requester.request('GET /generate/{requestId}', init)).outputs;
  }
}

/** One image of a request. Where its link has expired, a new one is signed. */
export class Image {
  readonly #source: ImageSource;
  readonly #links: Links;
  readonly #index: number;

  constructor(source: ImageSource, links: Links, index: number) {
    this.#source = source;
    this.#links = links;
    this.#index = index;
  }

  /** The present signed link, open for an hour at most. */
  get link(): string {
    return this.#links.outputs[this.#index]!;
  }

  /** The file as it is stored. @throws DownloadError, and what every call may throw, each with the `requestId` */
  async bytes({ signal }: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#fetched(() => this.#bytes(signal));
  }

  async #bytes(signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const { link } = this;
    try {
      return await download(this.#source, link, signal);
    } catch (error) {
      if (!(error instanceof DownloadError) || !refusedLinks.includes(error.status)) throw error;
    }
    await this.#links.renew(this.#index, link, signal);
    return download(this.#source, this.link, signal);
  }

  /**
   * Writes a file, in Node, Deno and Bun. A file that was there is replaced once all of the image has arrived.
   * @returns the path
   */
  async save<P extends string | URL>(path: P, options?: CallOptions): Promise<P> {
    const content = await this.bytes(options);
    await this.#fetched(() => files().writeFile(path, content));
    return path;
  }

  /** Does what an image that is paid needs. Its errors name the request, and those of fetching say that nothing is lost. */
  async #fetched<T>(work: () => Promise<T>): Promise<T> {
    const { requestId } = this.#links;
    try {
      return await work();
    } catch (error) {
      const isOurs = [StorageError, ConnectionError, TimeoutError].some((kind) => error instanceof kind);
      const rest = ` The image is paid and stored: getGeneration('${requestId}') fetches it again at no cost.`;
      if (isOurs && !(error as Error).message.endsWith(rest)) (error as Error).message += rest;
      throw withRequestId(error, requestId);
    }
  }
}

/** Beside the members of an answer: its images. They stand on the class, so that JSON and copies hold the answer alone. */
export class Images {
  readonly #images: readonly Image[];

  constructor(images: readonly Image[]) {
    this.#images = images;
  }

  /** The images, in the order of `outputs`. A request that has not completed has none. */
  get images(): readonly Image[] {
    return this.#images;
  }

  /** The file of the only image; of several, take them from `images`. */
  async bytes(options?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
    return this.#only().bytes(options);
  }

  /** Writes the file of the only image; of several, take them from `images`. */
  async save<P extends string | URL>(path: P, options?: CallOptions): Promise<P> {
    return this.#only().save(path, options);
  }

  #only(): Image {
    const [image, ...others] = this.#images;
    if (image !== undefined && others.length === 0) return image;
    throw new TypeError(`It has ${this.#images.length} images: take them from \`images\`.`);
  }
}

/** The same answer, which can also fetch its images. A service of before there were previews has none. */
export function withImages<T extends { outputs: string[]; previews?: (string | null)[] }>(
  source: ImageSource,
  requestId: string,
  answer: T,
): WithImages<T> {
  const links = new Links(source, requestId, answer.outputs);
  const images = new Images(answer.outputs.map((_, index) => new Image(source, links, index)));
  return Object.assign(images, answer, { previews: answer.previews ?? answer.outputs.map(() => null) });
}

function download(
  { requester, send }: ImageSource,
  link: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const once = (): Promise<Uint8Array<ArrayBuffer>> =>
    withTimeout({ signal, timeoutMs: answerTimeoutMs }, async (combined, isAnswered) => {
      const response = await send(link, { signal: combined, credentials: 'omit' }).catch((cause: unknown) => {
        throw new ConnectionError("The storage can't be reached.", { cause });
      });
      if (!response.ok) {
        const code = storageCodeOf(await response.text().catch(() => ''));
        throw new DownloadError('The storage did not give the image.', response.status, code);
      }
      isAnswered();
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      for await (const chunk of chunksOf(response.body)) chunks.push(chunk);
      return new Uint8Array(await new Blob(chunks).arrayBuffer());
    });
  return requester.retry(once, { isRetried: isTransient, signal, forMs: retryForMs });
}
