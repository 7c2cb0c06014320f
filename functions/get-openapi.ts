import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { openApiDocument } from '../shared/openapi/document.ts';
import * as routes from '../shared/route-table.ts';

/** GET /openapi.json: the same document for everyone, made once per cold start. */
export const handler = endpoint(routes.getOpenApi, {
  deps: openApiDocument,
  async run({ request, deps: document }) {
    readQuery(request, []);
    return ok(document);
  },
});
