/** The variables by which a function knows where it runs. Infrastructure and the local runtime set them by these names. */
export const environmentVariables = {
  serviceName: 'SERVICE_NAME',
  tableName: 'TABLE_NAME',
  bucketName: 'BUCKET_NAME',
  modelEndpointName: 'MODEL_ENDPOINT_NAME',
  modelComponentName: 'MODEL_COMPONENT_NAME',
  referenceFetcherUrl: 'REFERENCE_FETCHER_URL',
  generationQueueUrl: 'GENERATION_QUEUE_URL',
  generationDeadlineSeconds: 'GENERATION_DEADLINE_SECONDS',
  asyncDeadlineSeconds: 'ASYNC_DEADLINE_SECONDS',
  retentionDays: 'RETENTION_DAYS',
  embedParameters: 'EMBED_PARAMETERS',
  modelNames: 'MODEL_NAMES',
  previewRoleArn: 'PREVIEW_ROLE_ARN',
  userPoolId: 'USER_POOL_ID',
  sessionIssuer: 'SESSION_ISSUER',
  sessionJwksUrl: 'SESSION_JWKS_URL',
  sessionClientId: 'SESSION_CLIENT_ID',
  mailFrom: 'MAIL_FROM',
  dashboardUrl: 'DASHBOARD_URL',
  billingPortalUrl: 'BILLING_PORTAL_URL',
  supportContact: 'SUPPORT_CONTACT',
  allowedOrigins: 'ALLOWED_ORIGINS',
  billingPricesFile: 'BILLING_PRICES_FILE',
  billingLivemode: 'BILLING_LIVEMODE',
  billingPacks: 'BILLING_PACKS',
  pastDueGraceDays: 'PAST_DUE_GRACE_DAYS',
  extraCreditsMonths: 'EXTRA_CREDITS_MONTHS',
  stripeKeySecretArn: 'STRIPE_KEY_SECRET_ARN',
  promptCheck: 'PROMPT_CHECK',
} as const;

export type VariableName = (typeof environmentVariables)[keyof typeof environmentVariables];

/** Stands for the endpoint's name in a deployment without a model. Real names have no parentheses. */
export const noModelEndpoint = '(none)';

/** The longest that SageMaker streams. */
const maxGenerationDeadlineSeconds = 450;
/** A function runs for fifteen minutes at most, and the outcome must still be stored. */
export const maxAsyncDeadlineSeconds = 840;
export const maxRetentionDays = 3650;
export const maxPastDueGraceDays = 60;
export const maxExtraCreditsMonths = 120;

/** A support contact: of what may stand in a comment of a header (RFC 9110, section 5.6.5), so that it can break none. */
export const contactPattern = /^[!-'*-[\]-~]+$/;

const callbackPattern =
  /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(?=[/?]|$)|(?!https?:|javascript:|data:|file:)[a-z][a-z\d+.-]*:\/)[!"$-[\]-~]{0,1000}$/;
/** Whether Cognito lets a sign-in return to an address (its API, "CallbackURLs"), and what it takes. */
export const isCallback = (address: string) =>
  callbackPattern.test(address) &&
  URL.canParse(address) &&
  // The host becomes part of a page's policy.
  !/[;,']/.test(new URL(address).host);
export const callbackWords =
  'an https address, http on localhost, or one of an app as myapp://back, without a fragment';

/** Name and version of the function that runs; null beside Lambda (AWS Lambda guide, "Defined runtime environment variables"). */
export function readFunctionVersion(source: NodeJS.ProcessEnv = process.env): string | null {
  const { AWS_LAMBDA_FUNCTION_NAME: name, AWS_LAMBDA_FUNCTION_VERSION: version } = source;
  return name === undefined ? null : `${name}:${version}`;
}

type Source = NodeJS.ProcessEnv;
const names = environmentVariables;

/** Each setting, and how it is read. What has no default is refused where it is missing. */
const settings = {
  /** The dimension of this deployment's metrics. Only they need it, so a missing one must not fail a request. */
  serviceName: (source: Source) => source[names.serviceName] || 'unnamed',
  tableName: text(names.tableName),
  bucketName: text(names.bucketName),
  /** The SageMaker endpoint that generates; null where there is none. */
  modelEndpointName(source: Source): string | null {
    const name = text(names.modelEndpointName)(source);
    return name === noModelEndpoint ? null : name;
  },
  /** The endpoint's inference component, where the endpoint scales to zero; null where it never does. */
  modelComponentName: textOrNull(names.modelComponentName),
  /** Where SageMaker's control plane is, if not at its usual address: a variable of the AWS SDK, as all of this form. */
  sageMakerUrl: textOrNull('AWS_ENDPOINT_URL_SAGEMAKER'),
  /** The role that signs links to previews; null where each process signs with its own credentials. */
  previewRoleArn: textOrNull(names.previewRoleArn),
  stsUrl: textOrNull('AWS_ENDPOINT_URL_STS'),
  /** Where the function that fetches reference images is invoked. */
  referenceFetcherUrl: text(names.referenceFetcherUrl),
  /** Where the function that runs requests is invoked for which nobody waits on the line. */
  generationQueueUrl: text(names.generationQueueUrl),
  /** From acceptance to the last moment that a model may answer. */
  generationDeadlineSeconds: wholeNumber(names.generationDeadlineSeconds, 1, maxGenerationDeadlineSeconds),
  /** The same for requests that nobody waits for on the line. */
  asyncDeadlineSeconds: wholeNumber(names.asyncDeadlineSeconds, 1, maxAsyncDeadlineSeconds),
  /** The user pool whose accounts own licenses. */
  userPoolId: text(names.userPoolId),
  cognitoUrl: textOrNull('AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER'),
  /** What mails to the owners of licenses need. The dashboard's address has a slash at its end. */
  mail: (source: Source) => ({
    from: text(names.mailFrom)(source),
    dashboardUrl: text(names.dashboardUrl)(source),
    billingPortalUrl: textOrNull(names.billingPortalUrl)(source),
    supportContact: textOrNull(names.supportContact)(source),
  }),
  /** Where the dashboard is, with a slash at the end; null where nobody looks at it. */
  dashboardUrl: textOrNull(names.dashboardUrl),
  /** Whom customers, and the servers that references are fetched from, may ask: an e-mail address or a page. */
  supportContact: textOrNull(names.supportContact),
  sesUrl: textOrNull('AWS_ENDPOINT_URL_SESV2'),
  /** If not at the queue's own host. */
  sqsUrl: textOrNull('AWS_ENDPOINT_URL_SQS'),
  /** The user pool that signs sessions in: its issuer, its public keys and the dashboard's client there. */
  session: (source: Source) => ({
    issuer: text(names.sessionIssuer)(source),
    jwksUrl: text(names.sessionJwksUrl)(source),
    clientId: text(names.sessionClientId)(source),
  }),
  /** How long records are kept; the bucket's lifecycle removes their images after the same time. */
  retentionDays: wholeNumber(names.retentionDays, 1, maxRetentionDays),
  /** Whether images' files say all that they were made from. */
  embedParameters: (source: Source) => source[names.embedParameters] === 'true',
  /** Names of models in OpenAI's format, each with the id or slug of the identity that it means. */
  modelNames: mapOf<string>(names.modelNames),
  /** Origins of web pages that may read answers. */
  allowedOrigins: (source: Source) =>
    (source[names.allowedOrigins] ?? '').split(',').filter((origin) => origin !== ''),
  /** The file that says what each price of the billing provider grants. */
  billingPricesFile: text(names.billingPricesFile),
  /** Whether the billing provider's real events count, or those of its sandbox. */
  billingLivemode: trueOrFalse(names.billingLivemode),
  /** The credits of each pack that is sold, by its plan's id. */
  billingPacks: mapOf<number>(names.billingPacks),
  /** How long a license stays usable after its payment became due. */
  pastDueGraceDays: wholeNumber(names.pastDueGraceDays, 0, maxPastDueGraceDays),
  /** How long credits last that were paid for once. */
  extraCreditsMonths: wholeNumber(names.extraCreditsMonths, 1, maxExtraCreditsMonths),
  /** The secret that holds a key of Stripe's; null where there is none. */
  stripeKeySecretArn: textOrNull(names.stripeKeySecretArn),
  /** Null where prompts are not checked. */
  promptCheck: (source: Source) =>
    JSON.parse(source[names.promptCheck] || 'null') as PromptCheckSettings | null,
  bedrockUrl: textOrNull('AWS_ENDPOINT_URL_BEDROCK_RUNTIME'),
  secretsManagerUrl: textOrNull('AWS_ENDPOINT_URL_SECRETS_MANAGER'),
  /** Without a slash at the end. */
  stripeUrl: (source: Source) => source['STRIPE_API_URL'] || 'https://api.stripe.com',
};

/**
 * A function's settings, from its environment variables. Each is read when it is used, so a function needs only the
 * variables that it uses. The error about a missing one names it.
 */
export type Environment = {
  readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]>;
};
export type SessionEnvironment = Environment['session'];

export function readEnvironment(source: Source = process.env): Environment {
  const members = Object.entries(settings).map(([name, read]) => [
    name,
    { get: () => read(source), enumerable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(members)) as Environment;
}

/** What a deployment checks prompts with, and what becomes of those that could not be checked or are refused. */
export type PromptCheckSettings = {
  onFailure: 'refuse' | 'allow';
  /** For how many days a refused prompt is kept for the operator; left out: it is not. */
  keepRefusedDays?: number;
} & (
  | {
      kind: 'http';
      /** The operator's own server. */
      url: string;
      /** A secret of Secrets Manager: `whsec_` and base64, as Standard Webhooks have it. */
      secretArn: string;
    }
  | {
      /** A guardrail of Amazon Bedrock. */
      kind: 'bedrock';
      guardrailId: string;
      guardrailVersion: string;
    }
);

function text(name: string) {
  return (source: Source): string => {
    const value = source[name];
    if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set.`);
    return value;
  };
}

function textOrNull(name: string) {
  return (source: Source): string | null => source[name] || null;
}

function mapOf<T>(name: string) {
  return (source: Source) => JSON.parse(source[name] || '{}') as Readonly<Record<string, T>>;
}

function trueOrFalse(name: string) {
  return (source: Source): boolean => {
    const value = text(name)(source);
    if (value === 'true' || value === 'false') return value === 'true';
    throw new Error(`The environment variable ${name} must be true or false, not ${value}.`);
  };
}

function wholeNumber(name: string, min: number, max: number) {
  return (source: Source): number => {
    const value = text(name)(source);
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new Error(
      `The environment variable ${name} must be a whole number from ${min} to ${max}, not ${value}.`,
    );
  };
}
