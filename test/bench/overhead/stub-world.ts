import { createHash, createPrivateKey, generateKeyPairSync, randomUUID, type JsonWebKey } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { exportJWK, SignJWT } from 'jose';
import { environmentVariables as names } from '../../../shared/config.ts';
import { identity, license, startCountingWorld } from '../../infra/costs/counting.ts';

/** What the stub is told. */
export interface StubWorld {
  /** Of the table, as DynamoDB writes them. */
  rows: Record<string, any>[];
  imageBytes: number;
  jwks: { keys: JsonWebKey[] };
}

/** What a caller needs for requests that are accepted. */
export interface Caller {
  key: string;
  keyId: string;
  licenseId: string;
  identityId: string;
  /** Of a generation that is stored. */
  requestId: string;
  /** An access token of the account that owns the key. */
  session: string;
}

export const region = 'us-east-1';
const issuer = 'https://issuer.example.com/pool';
const clientId = 'dashboard';
export const prompt = 'a calm night over the mountains, '.repeat(4).slice(0, 100);

/**
 * A table's rows, made by the service's own code on the local engine: one key, license and identity, and what one
 * generation leaves. A stub that answers with them answers as DynamoDB did.
 */
export async function makeStubWorld(): Promise<{ world: StubWorld; caller: Caller }> {
  const before = { ...process.env };
  const engines = await startCountingWorld();
  try {
    const body = { identityId: identity.identityId, prompt, width: 1024, height: 1024 };
    const { answer } = await engines.generate(body);
    const { Items: items = [] } = await engines.table.documents.send(
      new ScanCommand({ TableName: engines.table.name }),
    );
    const { jwk, session } = await makeSession(license.ownerId);
    const keyId = items.find(({ SK }) => SK === 'KEY')!.PK.slice('KEY#'.length);
    const { key } = engines;
    return {
      world: { rows: items.map((item) => marshall(item)), imageBytes: 1_244_620, jwks: { keys: [jwk] } },
      caller: {
        key,
        keyId,
        licenseId: license.licenseId,
        identityId: identity.identityId,
        requestId: answer.requestId,
        session,
      },
    };
  } finally {
    await engines.close();
    // The engines' addresses are nobody else's.
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

async function makeSession(ownerId: string): Promise<{ jwk: JsonWebKey; session: string }> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = createHash('sha256').update(randomUUID()).digest('hex');
  const session = await new SignJWT({ token_use: 'access', client_id: clientId })
    .setProtectedHeader({ alg: 'RS256', kid })
    .setIssuer(issuer)
    .setSubject(ownerId)
    .setIssuedAt()
    .setExpirationTime('12h')
    .sign(createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  return {
    jwk: { ...((await exportJWK(publicKey)) as JsonWebKey), kid, alg: 'RS256', use: 'sig' } as JsonWebKey,
    session,
  };
}

/** The variables of a deployed function whose AWS is the stub. */
export function functionEnvironment(
  stubUrl: string,
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    // As long as Lambda's are: it is signed into every link.
    AWS_SESSION_TOKEN: 'IQoJb3JpZ2luX2Vj'.repeat(50),
    AWS_ENDPOINT_URL_DYNAMODB: stubUrl,
    AWS_ENDPOINT_URL_S3: stubUrl,
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: stubUrl,
    [names.serviceName]: 'image-generation-prod',
    [names.tableName]: 'image-generation',
    [names.bucketName]: 'image-generation',
    [names.modelEndpointName]: 'model',
    [names.referenceReaderUrl]: stubUrl,
    [names.generationDeadlineSeconds]: '300',
    [names.retentionDays]: '90',
    [names.allowedOrigins]: 'https://app.example.com',
    [names.sessionIssuer]: issuer,
    [names.sessionJwksUrl]: `${stubUrl}/jwks.json`,
    [names.sessionClientId]: clientId,
    ...more,
  };
}
