import { codePoints } from '../form-values.ts';
import { referenceLimits } from './limits.ts';

/**
 * What was typed or pasted, as an address that the service would take by its text; whether there is an image is seen
 * when it is fetched. The page itself never loads it.
 */
export function readReferenceUrl(typed: string): { url: string } | { problem: string } {
  const url = typed.trim();
  const problem = problemOf(url);
  return problem === null ? { url } : { problem };
}

function problemOf(text: string): string | null {
  const { maxUrlCharacters } = referenceLimits;
  if (text === '') return 'Enter the address of an image.';
  if (/^http:\/\//i.test(text)) return 'Only https:// addresses can be fetched.';
  if (!/^https:\/\//i.test(text)) return 'An address begins with https://.';
  if (codePoints(text) > maxUrlCharacters) return `At most ${maxUrlCharacters} characters.`;
  // oxlint-disable-next-line no-control-regex -- a browser's parser drops them, the service refuses them.
  if (/[\x00-\x20\x7f\\]/.test(text) || !text.isWellFormed()) {
    return 'It holds a space or another character that an address can’t have.';
  }
  const url = URL.parse(text);
  if (
    url === null ||
    !/^https:\/\/[^/?#@]+([/?#]|$)/i.test(text) ||
    url.port !== '' ||
    !hasName(url.hostname)
  ) {
    return 'It needs a host name, and no user, password, port or IP address.';
  }
  return null;
}

/** `shop.example`, and not an IP address, which the parser writes in one form however it was spelled. */
function hasName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && /^[^.[]+(\.[^.]+)+\.?$/.test(host);
}
