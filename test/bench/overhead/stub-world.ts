import { marshall } from '@aws-sdk/util-dynamodb';
import { environmentVariables as names } from '../../../shared/base/config.ts';
import { allItems } from '../../support/table-scan.ts';
import { identity, startCountingWorld } from '../../infra/costs/counting.ts';

/** What the stub is told. */
export interface StubWorld {
  /** Of the table, as DynamoDB writes them. */
  rows: Record<string, any>[];
  imageBytes: number;
}

/** What a caller needs for a generation that is accepted. */
export interface Caller {
  key: string;
  identityId: string;
}

const region = 'us-east-1';
const nowhere = 'https://issuer.example.com/pool';
export const prompt = 'a calm night over the mountains, '.repeat(4).slice(0, 100);

export function generationBody({ identityId }: Pick<Caller, 'identityId'>): string {
  return JSON.stringify({ identityId, prompt, width: 1024, height: 1024 });
}

/**
 * A table's rows, made by the service's own code on the local engine: one key, license and identity, and what one
 * generation leaves. A stub that answers with them answers as DynamoDB did.
 */
export async function makeStubWorld(): Promise<{ world: StubWorld; caller: Caller }> {
  const before = { ...process.env };
  const engines = await startCountingWorld();
  try {
    const { identityId } = identity;
    await engines.generate({ identityId, prompt, width: 1024, height: 1024 });
    const items = await allItems(engines.table);
    return {
      world: { rows: items.map((item) => marshall(item)), imageBytes: 1_244_620 },
      caller: { key: engines.key, identityId },
    };
  } finally {
    await engines.close();
    // The engines' addresses are nobody else's.
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

/** The variables of a deployed function whose AWS is the stub. */
export function functionEnvironment(stubUrl: string): Record<string, string> {
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
    [names.referenceFetcherUrl]: stubUrl,
    [names.generationWorkerUrl]: stubUrl,
    [names.asyncDeadlineSeconds]: '600',
    [names.generationDeadlineSeconds]: '300',
    [names.retentionDays]: '90',
    [names.embedParameters]: 'false',
    [names.allowedOrigins]: 'https://app.example.com',
    [names.sessionIssuer]: nowhere,
    [names.sessionJwksUrl]: nowhere,
    [names.sessionClientId]: 'dashboard',
  };
}
