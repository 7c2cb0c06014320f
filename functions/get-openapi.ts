import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { entityTag, hasTag } from '../shared/http/entity-tag.ts';
import { readQuery } from '../shared/http/request.ts';
import { openApiDocument } from '../shared/openapi/document.ts';
import * as routes from '../shared/routes/table.ts';

/** GET /openapi.json: the document, made once per cold start, with the address that was asked. Who has it already gets no second copy. */
export const handler = endpoint(routes.getOpenApi, {
  deps({ env }) {
    const document = openApiDocument(env.supportContact);
    return { document, tag: entityTag(document) };
  },
  async run({ request, deps }) {
    readQuery(request, []);
    const servers = [{ url: request.origin + request.basePath }];
    // All else of the document is hashed already.
    const tag = entityTag([deps.tag, servers]);
    // It may be kept, unlike other answers, by caches that ask each time whether it is still the same.
    const headers = { etag: tag, 'cache-control': 'no-cache', vary: 'accept-encoding, origin' };
    return hasTag(request, tag)
      ? { status: 304, headers, body: undefined }
      : ok({ ...deps.document, servers }, headers);
  },
});
