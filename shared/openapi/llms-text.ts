import { routes } from '../routes/routes.ts';
import type { Route } from '../routes/route.ts';
import { documentedRoutes, serviceSummary } from './document.ts';
import { operations } from './operations.ts';

export interface LlmsAddresses {
  /** With the version, without a slash at the end. */
  apiBaseUrl: string;
  /** The dashboard's origin, which has this text too. */
  siteUrl: string;
}

const callers: Record<Route['auth'], string> = {
  key: 'API key',
  session: 'session',
  key_or_session: 'API key or session',
  none: 'open to everyone',
};

/** What to say of routes whose format is described elsewhere. */
const formats: Record<NonNullable<Route['apiFormat']>, string> = {
  openai: "In OpenAI's format, for its SDKs whose base address ends in /openai/v1",
  mcp: 'The Model Context Protocol, for agents: list identities, quote, generate, fetch, cancel',
};

const endpoints = [
  ...documentedRoutes.map(([id, route]) => lineOf(route, operations[id].summary)),
  ...Object.values<Route>(routes)
    .filter(({ apiFormat }) => apiFormat)
    .map((route) => lineOf(route, formats[route.apiFormat!])),
].join('\n');

function lineOf({ method, path, auth }: Route, does: string): string {
  return `- \`${method} ${path}\` (${callers[auth]}): ${does}`;
}

/**
 * What a language model that is asked to call the API should read first, from the tables that the API's document is made of.
 * Its form is that of https://llmstxt.org: a title, a summary, text without headings, then lists of links.
 */
export function llmsText({ apiBaseUrl, siteUrl }: LlmsAddresses): string {
  return `# Image Generation Service

> ${serviceSummary}

The API is at ${apiBaseUrl}, which every path below follows. Programs send \`Authorization: Bearer svc_live_...\`, an API key that its
owner makes at ${siteUrl}/keys; web apps send the access token of a signed-in account, a session. Bodies are JSON. An error is
\`{"error": "What to change.", "code": "FOR_PROGRAMS"}\`. Send an \`Idempotency-Key\` of your own with each image, and the same one with a
repeat, which is then not charged again.

The first image, with curl and jq, once \`IMAGE_API_KEY\` is the key:

\`\`\`sh
identity=$(curl -sS ${apiBaseUrl}/identities -H "Authorization: Bearer $IMAGE_API_KEY" | jq -r 'first(.identities[] | select(.available)).id')
curl -sS ${apiBaseUrl}/generate -H "Authorization: Bearer $IMAGE_API_KEY" -H 'Idempotency-Key: first-image' \\
  -d '{ "identityId": "'"$identity"'", "prompt": "a calm night over the mountains" }' | jq -r '.outputs[0] // .error'
\`\`\`

Agents have the same as tools, by the Model Context Protocol (streamable HTTP), at ${apiBaseUrl}/mcp with the same header.

Every endpoint:

${endpoints}

## Documentation

- [The API, for those who call it](${siteUrl}/docs/api/README.md): the first image in three languages, and which page tells what
- [Endpoints](${siteUrl}/docs/api/endpoints.md): what each takes
- [Errors](${siteUrl}/docs/errors.md): every code, its cause, and what to do
- [Agents](${siteUrl}/docs/api/agents.md): the tools, and how each host is set up
- [OpenAPI 3.1](${apiBaseUrl}/openapi.json): every request, answer and error, made from what checks requests

## Optional

- [API reference](${siteUrl}/reference): the same document as a web page, to try requests in
`;
}
