import { createServer } from 'node:http';
import { serveJsonProtocol, type JsonOperation } from '../http/json-protocol.ts';
import { AwsFault } from '../http/rest.ts';
import { listen, type RunningServer } from '../http/server.ts';
import type { SigningScope } from '../http/signed.ts';

export interface SecretsOptions extends Omit<SigningScope, 'service'> {
  /** By their ARNs. */
  secrets: Record<string, string>;
}

/** Starts Secrets Manager's GetSecretValue, for secrets that are texts and never change. */
export function startSecrets({ secrets, ...scope }: SecretsOptions): Promise<RunningServer> {
  const operation: JsonOperation = {
    targets: ['secretsmanager.GetSecretValue'],
    signing: { service: 'secretsmanager', ...scope },
    maxBodyBytes: 64 * 1024,
    perform(body) {
      const { SecretId } = JSON.parse(body.toString()) as { SecretId: string };
      if (Object.hasOwn(secrets, SecretId)) return { ARN: SecretId, SecretString: secrets[SecretId] };
      throw new AwsFault('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    },
  };
  return listen(createServer((request, response) => serveJsonProtocol(request, response, operation)));
}
