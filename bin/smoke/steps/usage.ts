import { signAccessToken } from '../../../local/cognito/tokens.ts';
import { dataFolder, readServiceFile } from '../../../local/data-folder.ts';
import { sessionSettings } from '../../../local/sign-in.ts';
import type { UsageAnswer } from '../../../shared/licenses/usage-contract.ts';
import { described, send } from '../http.ts';
import { must, mustEqual } from '../mismatch.ts';
import { withoutImage, type SmokeContext, type Step } from '../step.ts';
import { totalsOf } from './generation.ts';

const once = { requests: 1, credits: 1 };

export const countsUsage: Step = {
  name: 'usage counts it once',
  skip: withoutImage,
  async run(context) {
    const { used, committed, byType, byIdentity } = await totalsOf(context);
    must(used === 1 && committed === 1, `${used} credits are used and ${committed - used} held, not 1 and 0`);
    mustEqual(byType, { text_to_image: once });
    mustEqual(byIdentity, { [context.world.identity.identityId]: once });
    // On AWS only the account itself can sign in.
    if (context.place.localFolder !== null) await checkUsageAnswer(context, context.place.localFolder);
  },
};

async function checkUsageAnswer({ place, world, image }: SmokeContext, folder: string): Promise<void> {
  const { licenseId, ownerId } = world.license;
  const bearer = await localSession(place.signIn.domainUrl, folder, ownerId);
  const answer = await send(`${place.baseUrl}/usage?licenseId=${licenseId}`, { bearer });
  must(answer.status === 200, `GET /usage answered ${described(answer)}`);
  const { stats, history, aggregates } = answer.json as UsageAnswer;
  mustEqual({ ...stats }, { current: 1, limit: world.license.creditsLimit });
  mustEqual(aggregates.byType, { text_to_image: once });
  // A model that slept has failed requests before it.
  const completed = history.filter(({ status }) => status === 'COMPLETED');
  must(completed.length === 1 && completed[0]!.requestId === image!.requestId, 'the history is wrong');
}

/** A session of the temporary license's owner, who has no account: signed with the local pool's key. */
async function localSession(origin: string, folder: string, ownerId: string): Promise<string> {
  const { signIn } = readServiceFile(dataFolder(folder));
  must(signIn !== null, 'the local service has no sign-in');
  const { signingKey } = signIn;
  const account = { sub: ownerId };
  return signAccessToken({ ...sessionSettings(origin), signingKey, account, lifetimeSeconds: 300 });
}
