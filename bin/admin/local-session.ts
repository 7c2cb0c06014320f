import type { Command } from 'commander';
import { signAccessToken } from '../../local/cognito/tokens.ts';
import { dataFolder, readServiceFile } from '../../local/data-folder.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { choosePlace, readEngines, type PlaceFlags } from '../common/connection.ts';
import { withExamples } from './command.ts';
import { asFailure, Failure, noLocalService, usageFailure } from '../common/failure.ts';

const lifetimeSeconds = 3600;

export function addLocalSessionCommand(program: Command): void {
  const session = program
    .command('local-session')
    .description("print an access token of one of the local service's accounts, good for an hour")
    .argument('<email>', 'who signs in: owner@example.test or stranger@example.test')
    .action(async (email: string, _, command: Command) => {
      const flags = command.optsWithGlobals<PlaceFlags & { json?: boolean }>();
      const accessToken = await localSession(email, flags).catch((error: unknown) => {
        throw asFailure(error, null);
      });
      process.stdout.write(`${flags.json ? JSON.stringify({ accessToken }) : accessToken}\n`);
    });
  withExamples(session, ['local-session owner@example.test']);
}

/** Signed with the local pool's own key, as its sign-in page would. */
async function localSession(email: string, flags: PlaceFlags): Promise<string> {
  const place = choosePlace(flags, {});
  if (place.kind !== 'local') {
    throw usageFailure('local-session is for the local service: on AWS, sign in to the dashboard.');
  }
  const { s3Url: origin } = readEngines(place.folder);
  const { jwksUrl } = sessionSettings(origin);
  // A killed service leaves its address file behind, so ask whether it answers.
  await fetch(jwksUrl).catch(() => Promise.reject(noLocalService(place.folder)));
  const { signIn } = readServiceFile(dataFolder(place.folder));
  const account = signIn?.accounts.find((known) => known.email === email.toLowerCase());
  if (!signIn || !account) {
    const known = signIn?.accounts.map((one) => one.email).join(', ') ?? 'none';
    throw new Failure(`The local service has no such account; it has ${known}.`);
  }
  const { signingKey } = signIn;
  return signAccessToken({ ...sessionSettings(origin), signingKey, account, lifetimeSeconds });
}
