import { fromEnv } from '@aws-sdk/credential-provider-env';

type Init = Parameters<typeof fromEnv>[0];
type Credentials = Awaited<ReturnType<ReturnType<typeof fromEnv>>>;

/**
 * Stands in for `@aws-sdk/credential-provider-node` in what is deployed. Lambda puts its role's credentials, session
 * token included, into the environment of a process that does not outlive them, so they are read once for each
 * client; metadata services, profiles, single sign-on and web identities are never asked there.
 * @throws CredentialsProviderError where the environment has none; then they are looked for again the next time.
 */
export function defaultProvider(init?: Init): () => Promise<Credentials> {
  const read = fromEnv(init);
  let found: Credentials | undefined;
  return async () => (found ??= await read());
}
