import { isApiError, type Client, type Requester } from '../../../clients/typescript/src/index.ts';

/** Calls that the types allow and refuse. Only the type check reads this file; nothing runs it. */
export const calls = {
  routes: (client: Client) => [
    client.request('GET /usage', { query: { licenseId: 'l' } }).then(({ stats }) => stats.current.toFixed()),
    client.request('DELETE /keys/{keyId}', { path: { keyId: 'k' } }).then(({ revokedAt }) => revokedAt),
    client.request('POST /uploads', { body: { contentType: 'image/png', licenseId: 'l' } }),
    client.request('GET /generate', { query: { limit: 5, cursor: undefined } }),
  ],
  refusedRoutes: (client: Client) => [
    // @ts-expect-error no such route
    client.request('GET /nothing'),
    // @ts-expect-error the query is required
    client.request('GET /usage'),
    // @ts-expect-error the key must be named
    client.request('DELETE /keys/{keyId}', {}),
    // @ts-expect-error no such parameter
    client.request('GET /generate', { query: { page: 5 } }),
    // @ts-expect-error no body
    client.request('GET /licenses', { body: {} }),
  ],
  refusedGenerations: (client: Client) => [
    // @ts-expect-error no such format
    client.dryRun({ identityId: 'i', prompt: 'p', outputFormat: 'gif' }),
    // @ts-expect-error the identity is required
    client.generate({ prompt: 'p' }),
    // @ts-expect-error misspelt
    client.generate({ identityId: 'i', prompt: 'p', negativPrompt: 'n' }),
  ],
  codes: (error: unknown): 'RATE_LIMITED' | 'TIER_LIMIT' | null =>
    isApiError(error, 'RATE_LIMITED', 'TIER_LIMIT') ? error.code : null,
  everyCode: (error: unknown): string => {
    if (!isApiError(error)) return 'another';
    switch (error.code) {
      case 'RATE_LIMITED':
        return 'wait';
      // @ts-expect-error no such code
      case 'RATE_LIMIT':
        return 'never';
      default:
        return error.code;
    }
  },
  events: async (client: Client): Promise<number | string | undefined> => {
    for await (const event of client.generateEvents({ identityId: 'i', prompt: 'p' })) {
      if (event.type === 'progress') return event.steps;
      if (event.type === 'completed') return event.result.images[0]?.link;
      // @ts-expect-error it has no result yet
      if (event.type === 'accepted') return event.result;
    }
    return undefined;
  },
  // @ts-expect-error no such code
  refusedCode: (error: unknown) => isApiError(error, 'RATE_LIMIT'),
  requesters: (client: Client): Requester['request'] => client.request,
};
