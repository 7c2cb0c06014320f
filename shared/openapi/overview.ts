import { errorCodes, type ErrorCode } from '../base/errors.ts';
import { cors } from '../routes/api.ts';
import { errorAdvice } from './error-advice.ts';
import { errorExamples } from './error-examples.ts';

const exposed = cors.responseHeaders.map((name) => `\`${name}\``).join(', ');

/**
 * A section for each error code, so that it has an address in the reference: `#description/tier-limit`. Its title is words:
 * the reference's list of contents would take the underscores of a code for emphasis.
 */
const errors = (Object.keys(errorCodes) as ErrorCode[])
  .map((code) => {
    const { status } = errorCodes[code];
    return `### ${titleOf(code)}\n\n\`${code}\`, ${status}: “${errorExamples[code]}” ${errorAdvice[code]}\n`;
  })
  .join('\n');

function titleOf(code: ErrorCode): string {
  const words = code.toLowerCase().replaceAll('_', ' ').replace('api', 'API');
  return words[0]!.toUpperCase() + words.slice(1);
}

/** The description of the whole API, as CommonMark. */
export const overview = `Generates images with named creator systems, called identities.

**Credentials.** Programs send an API key, web apps of a signed-in account an access token, both as
\`Authorization: Bearer …\`. Each operation says which it takes.

**Bodies** are JSON, sent without \`Content-Encoding\`, at most 1 MiB. Unknown members and query parameters are refused, and
so is one that is sent twice.

**Errors** have a sentence for people, which may be reworded, and a \`code\` for programs, which stays. Every operation lists
the codes that it may answer, each with an example; [below](#description/errors) is what to do after each. \`X-Request-Id\` names the request; quote it when you ask for help. A \`traceparent\` (W3C Trace Context) is taken and answered.

**Limits.** An operation with a limit of its own says so in words, in \`x-rate-limit\` (one caller) or \`x-throttle\` (all
callers together), and in the \`RateLimit\` and \`RateLimit-Policy\` headers of its answers. Too many requests from one
address are 429 RATE_LIMITED on every operation. Wait as long as \`Retry-After\` says; without it, start at one second and
double, to at most a minute.

**Web pages** of the origins that the service allows may send requests and read the answers. The headers that they may read
are ${exposed}.

## Errors

${errors}`;
