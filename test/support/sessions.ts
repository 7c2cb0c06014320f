import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signAccessToken, type TokenSettings } from '../../local/cognito/tokens.ts';
import { readServiceFile, dataFolder, type EnginesFile } from '../../local/data-folder.ts';
import { sessionSettings } from '../../local/sign-in.ts';

/** What a running service's pool signs its tokens with. */
export function tokenSettings(dataDir: string, email: string): TokenSettings {
  const { s3Url: origin } = JSON.parse(readFileSync(join(dataDir, 'engines.json'), 'utf8')) as EnginesFile;
  const { accounts, signingKey } = readServiceFile(dataFolder(dataDir)).signIn!;
  const account = accounts.find((known) => known.email === email)!;
  return { ...sessionSettings(origin), signingKey, account, lifetimeSeconds: 3600 };
}

/** An access token of the demo's owner, or of any other `sub`. */
export function sessionOf(
  dataDir: string,
  { sub, lifetimeSeconds = 3600 }: { sub?: string; lifetimeSeconds?: number } = {},
): Promise<string> {
  const settings = { ...tokenSettings(dataDir, 'owner@example.test'), lifetimeSeconds };
  return signAccessToken(sub === undefined ? settings : { ...settings, account: { sub } });
}
