import { identityFor } from '../shared/openai/contract.ts';
import { isId } from '../shared/base/ids.ts';
import { usableIdentity } from '../shared/identities/identity.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { openAiErrorAnswer } from '../shared/openai/errors.ts';
import { modelOf } from '../shared/openai/models.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { identityByName, identityCatalog, identityStore } from '../shared/identities/store.ts';

/** OpenAI's GET /models/{model}, by an identity's id or slug, or by what the operator calls it. */
export const handler = endpoint(routes.getOpenAiModel, {
  deps: ({ table, clock }) => identityCatalog(identityStore(table()), clock),
  errorAnswer: openAiErrorAnswer,
  async run({ request, caller, deps: identities, runtime }) {
    readQuery(request, []);
    const model = identityFor(request.pathParameters.model ?? '', runtime.env.modelNames);
    const identity = isId(model) ? await identityByName(identities, model) : null;
    return ok(modelOf(usableIdentity(identity, [caller.license])));
  },
});
