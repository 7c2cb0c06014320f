import { request } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: Headers;
  /** As it was received, byte for byte. */
  text: string;
}

/** A request that is sent as it is written: repeated headers stay apart, and the path is not put in order. */
export function sendRaw(
  baseUrl: string,
  {
    method = 'GET',
    path,
    headers = [],
    body = '',
    host = new URL(baseUrl).host,
  }: { method?: string; path: string; headers?: [string, string][]; body?: string | Buffer; host?: string },
): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(baseUrl);
  const length = body.length === 0 ? [] : [['content-length', String(Buffer.byteLength(body))]];
  const raw = [['host', host], ...length, ...headers].flat();
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path: `${pathname}${path}`, headers: raw }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const entries = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({
          status: response.statusCode!,
          headers: new Headers(entries as [string, string][]),
          text: Buffer.concat(chunks).toString(),
        });
      });
    });
    sent.on('error', reject).end(body);
  });
}
