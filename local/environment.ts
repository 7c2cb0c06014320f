import { environmentVariables as names, type PromptCheckSettings } from '../shared/base/config.ts';
import type { EnginesFile } from './data-folder.ts';

/** What an operator's server knows this service by. It is no secret: everybody has the same. */
export const moderationSecret = {
  arn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:moderation-Local1',
  text: `whsec_${Buffer.from('the local moderation secret').toString('base64')}`,
};

/** How many days requests are kept. */
export const retentionDays = 90;

/** What the functions know of the engines beside the SDK's own targets. */
export interface EngineVariables {
  modelEndpointName: string;
  /** Left out where the model is never scaled to zero. */
  modelComponentName?: string;
  sageMakerRuntimeUrl: string;
  /** Where the function that fetches reference images is invoked. */
  referenceFetcherUrl: string;
  /** Of the queue of requests that nobody waits for. */
  generationQueueUrl: string;
  sesUrl: string;
  secretsManagerUrl: string;
}

export interface LocalSettings extends EnginesFile, EngineVariables {
  dashboardUrl: string;
  billingPortalUrl?: string | null;
  supportContact?: string | null;
  /** The operator's server that prompts are checked with. */
  moderationUrl?: string | null;
  allowUnchecked?: boolean;
  keepRefusedDays?: number | null;
  deadlineSeconds: number;
  asyncDeadlineSeconds: number;
  allowedOrigins: string[];
  session: { issuer: string; jwksUrl: string; clientId: string };
}

/** The engines that the SDK is pointed at; not every test has a user pool. */
type SdkTargets = Omit<EnginesFile, 'tableName' | 'bucketName' | 'userPoolId' | 'cognitoUrl'> &
  Partial<Pick<EnginesFile, 'cognitoUrl'>>;

/** Variables of the user's own AWS set-up that would lead the SDK past the local engines. */
const foreign = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
];

/** Points the AWS SDK at local engines, in the variables that it reads itself. */
export function pointSdkAt(to: SdkTargets): void {
  for (const name of foreign) delete process.env[name];
  Object.assign(process.env, {
    AWS_REGION: to.region,
    AWS_ACCESS_KEY_ID: to.accessKeyId,
    AWS_SECRET_ACCESS_KEY: to.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: to.dynamoDbUrl,
    AWS_ENDPOINT_URL_S3: to.s3Url,
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: to.cognitoUrl ?? '',
    // The user's ~/.aws must not change what runs here.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
}

/** The environment that CloudFormation would give the functions. */
export function setFunctionEnvironment(settings: LocalSettings): void {
  pointSdkAt(settings);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: settings.sageMakerRuntimeUrl,
    [names.serviceName]: 'local',
    [names.tableName]: settings.tableName,
    [names.bucketName]: settings.bucketName,
    [names.userPoolId]: settings.userPoolId,
    AWS_ENDPOINT_URL_SESV2: settings.sesUrl,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: settings.secretsManagerUrl,
    [names.promptCheck]: promptCheckWith(settings),
    [names.mailFrom]: 'no-reply@localhost',
    [names.dashboardUrl]: settings.dashboardUrl,
    [names.billingPortalUrl]: settings.billingPortalUrl ?? '',
    [names.supportContact]: settings.supportContact ?? '',
    // The engine's one address stands for the runtime and for the control plane.
    AWS_ENDPOINT_URL_SAGEMAKER: settings.sageMakerRuntimeUrl,
    [names.modelEndpointName]: settings.modelEndpointName,
    [names.modelComponentName]: settings.modelComponentName ?? '',
    [names.referenceFetcherUrl]: settings.referenceFetcherUrl,
    [names.generationQueueUrl]: settings.generationQueueUrl,
    [names.generationDeadlineSeconds]: String(settings.deadlineSeconds),
    [names.asyncDeadlineSeconds]: String(settings.asyncDeadlineSeconds),
    [names.retentionDays]: String(retentionDays),
    [names.embedParameters]: 'false',
    // What OpenAI's SDKs ask for by habit, and the demo identity that generates it.
    [names.modelNames]: JSON.stringify({ 'gpt-image-1': 'aurora' }),
    [names.allowedOrigins]: settings.allowedOrigins.join(','),
    [names.sessionIssuer]: settings.session.issuer,
    [names.sessionJwksUrl]: settings.session.jwksUrl,
    [names.sessionClientId]: settings.session.clientId,
  });
}

function promptCheckWith({
  moderationUrl: url = null,
  allowUnchecked = false,
  keepRefusedDays = null,
}: Pick<LocalSettings, 'moderationUrl' | 'allowUnchecked' | 'keepRefusedDays'>): string {
  if (url === null) return '';
  const settings: PromptCheckSettings = {
    kind: 'http',
    url,
    secretArn: moderationSecret.arn,
    onFailure: allowUnchecked ? 'allow' : 'refuse',
    ...(keepRefusedDays !== null && { keepRefusedDays }),
  };
  return JSON.stringify(settings);
}
