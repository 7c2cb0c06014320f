import type { GenerationList } from '../shared/generations/answer-contract.ts';
import { isoTime } from '../shared/base/clock.ts';
import { requestIdTimeMs } from '../shared/base/ids.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { filterParameters, readFilter } from '../shared/http/generation-filter.ts';
import { imageStore } from '../shared/http/image-store.ts';
import { ownedLicense, readLicenseId } from '../shared/http/owned-license.ts';
import { readCursor, readLimit, writeCursor } from '../shared/http/paging.ts';
import { readQuery, sentQuery, collectErrors } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import type { GenerationFilter } from '../shared/generations/pages.ts';
import { generationStore } from '../shared/generations/store.ts';
import {
  identityByName,
  identityCatalog,
  identityStore,
  type IdentityCatalog,
} from '../shared/identities/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { storedAnswer } from '../shared/generations/answers.ts';

const paging = ['limit', 'cursor'] as const;

/** GET /generate: a license's stored requests, newest first. */
export const handler = endpoint(routes.listGenerations, {
  deps: (runtime) => ({
    generations: generationStore(runtime.table()),
    identities: identityCatalog(identityStore(runtime.table()), runtime.clock),
    licenses: licenseStore(runtime.table()),
    objects: imageStore(runtime),
  }),
  async run({ request, caller, deps, runtime }) {
    const owner = caller.kind === 'session' ? (['licenseId'] as const) : [];
    const sent = sentQuery(request);
    const [, limit, before, filter, licenseId] = collectErrors(
      () => readQuery(request, [...paging, ...filterParameters, ...owner]),
      () => readLimit(sent.limit),
      () => readCursor(sent.cursor),
      () => readFilter(sent),
      () => (caller.kind === 'key' ? caller.licenseId : readLicenseId(sent.licenseId)),
    );
    if (caller.kind === 'session') await ownedLicense(deps.licenses, caller.ownerId, licenseId);
    const page = await deps.generations.listPage(licenseId, {
      limit,
      before,
      filter: await withIdentityId(filter, deps.identities),
      reads: caller.rights.reads,
      nowMs: runtime.clock.now(),
    });
    const list: GenerationList = {
      generations: await Promise.all(
        page.generations.map((generation) => storedAnswer(generation, deps.objects)),
      ),
      nextCursor: page.next === null ? null : writeCursor(page.next),
      searchedBackTo: page.next === null ? null : isoTime(requestIdTimeMs(page.next)),
    };
    return ok(list);
  },
});

/** A slug names all requests for its identity, whatever slug it had when they were made. */
async function withIdentityId(
  filter: GenerationFilter,
  identities: IdentityCatalog,
): Promise<GenerationFilter> {
  const { identityId: name } = filter;
  const identity = name === undefined ? null : await identityByName(identities, name);
  return identity === null ? filter : { ...filter, identityId: identity.identityId };
}
