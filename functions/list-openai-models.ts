import { mayUse } from '../shared/identities/identity.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { openAiErrorAnswer } from '../shared/openai/errors.ts';
import { modelOf } from '../shared/openai/models.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';

/** OpenAI's GET /models: the identities of GET /identities. */
export const handler = endpoint(routes.listOpenAiModels, {
  deps: ({ table, clock }) => identityCatalog(identityStore(table()), clock),
  errorAnswer: openAiErrorAnswer,
  async run({ request, caller, deps: identities }) {
    readQuery(request, []);
    const all = await identities.list();
    const data = all.filter((identity) => mayUse(caller.license, identity)).map(modelOf);
    return ok({ object: 'list', data });
  },
});
