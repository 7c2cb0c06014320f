import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { entityTag, hasTag } from '../shared/http/entity-tag.ts';
import { readQuery } from '../shared/http/request.ts';
import { openApiDocument } from '../shared/openapi/document.ts';
import * as routes from '../shared/route-table.ts';

/** GET /openapi.json: the same document for everyone, made once per cold start. Who has it already gets no second copy. */
export const handler = endpoint(routes.getOpenApi, {
  deps() {
    const document = openApiDocument();
    return { document, tag: entityTag(document) };
  },
  async run({ request, deps: { document, tag } }) {
    readQuery(request, []);
    // It may be kept, unlike other answers, by caches that ask each time whether it is still the same.
    const headers = { etag: tag, 'cache-control': 'no-cache', vary: 'accept-encoding, origin' };
    return hasTag(request, tag) ? { status: 304, headers, body: undefined } : ok(document, headers);
  },
});
