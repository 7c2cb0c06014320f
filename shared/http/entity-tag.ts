import { createHash } from 'node:crypto';
import type { ApiRequest } from './request.ts';

/**
 * The tag of what is sent as JSON (RFC 9110, section 8.8.3). It is weak, because the gateway may compress the answer, which makes other
 * bytes of the same document.
 */
export function entityTag(body: unknown): string {
  return `W/"${createHash('sha256').update(JSON.stringify(body)).digest('base64url')}"`;
}

/** Whether the client has it already: If-None-Match names any or this tag, compared weakly (RFC 9110, section 13.1.2). */
export function hasTag({ headers }: Pick<ApiRequest, 'headers'>, tag: string): boolean {
  const sent = (headers.get('if-none-match') ?? []).join(',');
  const tags: readonly string[] = sent.match(/"[^"]*"/g) ?? [];
  return sent.trim() === '*' || tags.includes(tag.replace(/^W\//, ''));
}
