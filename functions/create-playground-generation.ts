import { playgroundCaller } from '../shared/generations/contract.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { answerGeneration } from '../shared/http/generation-answers.ts';
import { generationDeps, readCommand } from '../shared/http/generation-request.ts';
import { ownedLicense, readLicenseId, refuseInactive } from '../shared/http/owned-license.ts';
import { readJsonBody, collectErrors } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { parseParameters } from '../shared/generations/check-command.ts';

/** POST /playground/generate: POST /generate to the letter, for a signed-in account that names its license. */
export const handler = endpoint(routes.createPlaygroundGeneration, {
  deps: (runtime) => ({ ...generationDeps(runtime), licenses: licenseStore(runtime.table()) }),
  async run({ request, caller, deps, runtime }) {
    const { licenseId, ...body } = readJsonBody(request);
    if (typeof licenseId !== 'string' || licenseId === '') {
      // Nothing else can be decided then, so what is wrong with the rest is named at once.
      const idempotencyKeys = request.headers.get('idempotency-key');
      collectErrors(
        () => readLicenseId(licenseId),
        () => parseParameters({ body, query: request.query, idempotencyKeys }, null),
      );
    }
    const named = async () => {
      const license = await ownedLicense(deps.licenses, caller.ownerId, licenseId);
      request.logFields.licenseId = license.licenseId;
      request.refusalOwner = { licenseId: license.licenseId, caller: playgroundCaller, keyName: null };
      refuseInactive(license, runtime.clock.now());
      return license;
    };
    const sent = { ...caller, keyBudget: null, keyMaxInFlight: null, license: named(), body };
    return answerGeneration(request, await readCommand(request, sent, deps), deps.workflow);
  },
});
