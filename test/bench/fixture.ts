import { environmentVariables as names } from '../../shared/base/config.ts';

/** What a caller needs for a generation that is accepted. */
export interface Caller {
  key: string;
  identityId: string;
}

/** What stands behind a measured server: a table's rows, made by the service's own code, and the one who calls. */
export interface StubFixture {
  /** As DynamoDB writes them. A stub that answers with them answers as DynamoDB did. */
  rows: Record<string, any>[];
  imageBytes: number;
  caller: Caller;
}

const region = 'us-east-1';
const nowhere = 'https://issuer.example.com/pool';
export const prompt = 'a calm night over the mountains, '.repeat(4).slice(0, 100);

export function generationBody({ identityId }: Pick<Caller, 'identityId'>): string {
  return JSON.stringify({ identityId, prompt, width: 1024, height: 1024 });
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
    [names.generationQueueUrl]: stubUrl,
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
