import * as z from 'zod/mini';
import { objectStore } from '../shared/images/object-store.ts';
import { loggableError } from '../shared/base/log.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { callersGeneration } from '../shared/http/owned-generation.ts';
import { collectErrors, readBody, readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { cancelGeneration } from '../shared/generations/cancel.ts';
import { generationStore } from '../shared/generations/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { storedAnswer } from '../shared/generations/answers.ts';

const noMembers = z.strictObject({});

/** POST /generate/{requestId}/cancel. A 200 has the cancelled request stored behind it. */
export const handler = endpoint(routes.cancelGeneration, {
  deps: ({ env, table, clock, log }) => ({
    generations: generationStore(table()),
    licenses: licenseStore(table()),
    objects: objectStore(env.bucketName, { clock }),
    clock,
    logFault: (requestId: string, what: string, error: unknown) =>
      log.error(what, { requestId, causes: loggableError(error) }),
  }),
  async run({ request, caller, deps }) {
    collectErrors(
      () => readBody(request, noMembers, { mayBeEmpty: true }),
      () => readQuery(request, []),
    );
    const found = await callersGeneration(request, caller, deps);
    request.logFields.cancelledRequestId = found.requestId;
    return ok(await storedAnswer(await cancelGeneration(found, caller.rights, deps), deps.objects));
  },
});
