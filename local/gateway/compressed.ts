import { minCompressionBytes } from '../../shared/routes/api.ts';
import { compress } from '../http/gzip.ts';
import type { HostedAnswer } from './lambda-host.ts';

/** Compresses an answer that is large enough (API Gateway, "Receive an API response with a compressed payload"). */
export async function compressed(answer: HostedAnswer): Promise<HostedAnswer> {
  const parts: Buffer[] = [];
  for await (const chunk of answer.body) parts.push(Buffer.from(chunk));
  const body = Buffer.concat(parts);
  if (body.length < minCompressionBytes) return { ...answer, body: once(body) };
  const headers = { ...answer.headers, 'content-encoding': 'gzip' };
  return { ...answer, headers, body: once(await compress(body)) };
}

async function* once(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}
