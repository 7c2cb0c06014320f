import { createServer } from 'node:http';
import { listen } from '../../local/http/server.ts';
import { startSecrets } from '../../local/secrets/engine.ts';
import type { SigningScope } from '../../local/http/signed.ts';
import { moderationSecret } from '../../local/environment.ts';
import { ownCheck } from './configurations.ts';

/** What the functions of `everything` check prompts with: a server that allows all, and where its secret is. */
export async function startDeployedCheck({ credentials }: Pick<SigningScope, 'credentials'>) {
  const { secretArn } = ownCheck;
  const region = secretArn.split(':')[3]!;
  const [server, secrets] = await Promise.all([
    listen(
      createServer(
        (request, response) => void request.resume().once('end', () => response.end('{"allowed":true}')),
      ),
    ),
    startSecrets({ secrets: { [secretArn]: moderationSecret.text }, credentials, region }),
  ]);
  return {
    url: server.url,
    secretsUrl: secrets.url,
    close: () => Promise.all([server.close(), secrets.close()]),
  };
}
