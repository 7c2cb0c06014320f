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

/**
 * A function's settings, from its environment variables. Each is read on first use, so a function needs only the
 * variables that it uses. The error about a missing one names it.
 */
export interface Environment {
  /** The dimension of this deployment's metrics. */
  readonly serviceName: string;
  readonly tableName: string;
  readonly bucketName: string;
  /** The SageMaker endpoint that generates; null where there is none. */
  readonly modelEndpointName: string | null;
  /** The endpoint's inference component, where the endpoint scales to zero; null where it never does. */
  readonly modelComponentName: string | null;
  /** Where SageMaker's control plane is, if not at its usual address: a variable of the AWS SDK. */
  readonly sageMakerUrl: string | null;
  /** The role that signs links to previews; null where each process signs with its own credentials. */
  readonly previewRoleArn: string | null;
  /** Where AWS's token service is, if not at its usual address: a variable of the AWS SDK. */
  readonly stsUrl: string | null;
  /** Where the function that fetches reference images is invoked. */
  readonly referenceFetcherUrl: string;
  /** Where the function that runs such requests is invoked. */
  readonly generationQueueUrl: string;
  /** From acceptance to the last moment that a model may answer. */
  readonly generationDeadlineSeconds: number;
  /** The same for requests that nobody waits for on the line. */
  readonly asyncDeadlineSeconds: number;
  /** The user pool whose accounts own licenses. */
  readonly userPoolId: string;
  /** Where the user pools API is, if not at its usual address: a variable of the AWS SDK. */
  readonly cognitoUrl: string | null;
  /** What mails to the owners of licenses need. */
  readonly mail: MailEnvironment;
  /** Where the dashboard is, with a slash at the end; null where nobody looks at it. */
  readonly dashboardUrl: string | null;
  /** Whom the servers that references are fetched from may ask; null where the deployment names nobody. */
  readonly supportContact: string | null;
  /** Where SES is, if not at its usual address: a variable of the AWS SDK. */
  readonly sesUrl: string | null;
  /** Where SQS is, if not at the queue's own host: a variable of the AWS SDK. */
  readonly sqsUrl: string | null;
  /** The user pool that signs sessions in: its issuer, its public keys and the dashboard's client there. */
  readonly session: SessionEnvironment;
  /** How long records are kept; the bucket's lifecycle removes their images after the same time. */
  readonly retentionDays: number;
  /** Whether images' files say all that they were made from; false where it is not set. */
  readonly embedParameters: boolean;
  /** Names of models in OpenAI's format, each with the id or slug of the identity that it means; none where it is not set. */
  readonly modelNames: Readonly<Record<string, string>>;
  /** Origins of web pages that may read answers; none where it is not set. */
  readonly allowedOrigins: readonly string[];
  /** The file that says what each price of the billing provider grants. */
  readonly billingPricesFile: string;
  /** Whether the billing provider's real events count, or those of its sandbox. */
  readonly billingLivemode: boolean;
  /** The credits of each pack that is sold, by its plan's id; none where it is not set. */
  readonly billingPacks: Readonly<Record<string, number>>;
  /** How long a license stays usable after its payment became due. */
  readonly pastDueGraceDays: number;
  /** How long credits last that were paid for once. */
  readonly extraCreditsMonths: number;
  /** The secret that holds a key of Stripe's; null where there is none. */
  readonly stripeKeySecretArn: string | null;
  /** Where Secrets Manager is, if not at its usual address: a variable of the AWS SDK. */
  readonly secretsManagerUrl: string | null;
  /** Where Stripe's API is, without a slash at the end. */
  readonly stripeUrl: string;
}

export interface MailEnvironment {
  /** The address that mails come from. */
  from: string;
  /** With a slash at the end. */
  dashboardUrl: string;
  /** Where customers change their subscriptions; null where the deployment names no place. */
  billingPortalUrl: string | null;
  /** An e-mail address or a page; null where the deployment names none. */
  supportContact: string | null;
}

export interface SessionEnvironment {
  issuer: string;
  jwksUrl: string;
  clientId: string;
}

const names = environmentVariables;

/** Name and version of the function that runs; null beside Lambda (AWS Lambda guide, "Defined runtime environment variables"). */
export function readFunctionVersion(source: NodeJS.ProcessEnv = process.env): string | null {
  const { AWS_LAMBDA_FUNCTION_NAME: name, AWS_LAMBDA_FUNCTION_VERSION: version } = source;
  return name === undefined ? null : `${name}:${version}`;
}

export function readEnvironment(source: NodeJS.ProcessEnv = process.env): Environment {
  return {
    get tableName() {
      return text(source, names.tableName);
    },
    get bucketName() {
      return text(source, names.bucketName);
    },
    get modelEndpointName() {
      const name = text(source, names.modelEndpointName);
      return name === noModelEndpoint ? null : name;
    },
    ...optionalOf(source),
    get referenceFetcherUrl() {
      return text(source, names.referenceFetcherUrl);
    },
    get generationQueueUrl() {
      return text(source, names.generationQueueUrl);
    },
    get generationDeadlineSeconds() {
      return wholeNumber(source, names.generationDeadlineSeconds, 1, maxGenerationDeadlineSeconds);
    },
    get asyncDeadlineSeconds() {
      return wholeNumber(source, names.asyncDeadlineSeconds, 1, maxAsyncDeadlineSeconds);
    },
    get userPoolId() {
      return text(source, names.userPoolId);
    },
    get mail() {
      return mailOf(source);
    },
    get session() {
      return sessionOf(source);
    },
    get retentionDays() {
      return wholeNumber(source, names.retentionDays, 1, maxRetentionDays);
    },
    get billingPricesFile() {
      return text(source, names.billingPricesFile);
    },
    get billingLivemode() {
      return trueOrFalse(source, names.billingLivemode);
    },
    get pastDueGraceDays() {
      return wholeNumber(source, names.pastDueGraceDays, 0, maxPastDueGraceDays);
    },
    get extraCreditsMonths() {
      return wholeNumber(source, names.extraCreditsMonths, 1, maxExtraCreditsMonths);
    },
  };
}

/** These may be left out, so there is nothing to refuse on first use. */
function optionalOf(source: NodeJS.ProcessEnv) {
  return {
    // Only metrics need the name, so a missing one must not fail a request.
    serviceName: source[names.serviceName] || 'unnamed',
    modelComponentName: source[names.modelComponentName] || null,
    sageMakerUrl: source['AWS_ENDPOINT_URL_SAGEMAKER'] || null,
    embedParameters: source[names.embedParameters] === 'true',
    modelNames: JSON.parse(source[names.modelNames] || '{}') as Record<string, string>,
    previewRoleArn: source[names.previewRoleArn] || null,
    stsUrl: source['AWS_ENDPOINT_URL_STS'] || null,
    dashboardUrl: source[names.dashboardUrl] || null,
    supportContact: source[names.supportContact] || null,
    sesUrl: source['AWS_ENDPOINT_URL_SESV2'] || null,
    sqsUrl: source['AWS_ENDPOINT_URL_SQS'] || null,
    cognitoUrl: source['AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER'] || null,
    billingPacks: JSON.parse(source[names.billingPacks] || '{}') as Record<string, number>,
    stripeKeySecretArn: source[names.stripeKeySecretArn] || null,
    secretsManagerUrl: source['AWS_ENDPOINT_URL_SECRETS_MANAGER'] || null,
    stripeUrl: source['STRIPE_API_URL'] || 'https://api.stripe.com',
    allowedOrigins: (source[names.allowedOrigins] ?? '').split(',').filter((origin) => origin !== ''),
  };
}

function mailOf(source: NodeJS.ProcessEnv): MailEnvironment {
  return {
    from: text(source, names.mailFrom),
    dashboardUrl: text(source, names.dashboardUrl),
    billingPortalUrl: source[names.billingPortalUrl] || null,
    supportContact: source[names.supportContact] || null,
  };
}

function sessionOf(source: NodeJS.ProcessEnv): SessionEnvironment {
  return {
    issuer: text(source, names.sessionIssuer),
    jwksUrl: text(source, names.sessionJwksUrl),
    clientId: text(source, names.sessionClientId),
  };
}

function text(source: NodeJS.ProcessEnv, name: string): string {
  const value = source[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

function trueOrFalse(source: NodeJS.ProcessEnv, name: string): boolean {
  const value = text(source, name);
  if (value === 'true' || value === 'false') return value === 'true';
  throw new Error(`The environment variable ${name} must be true or false, not ${value}.`);
}

function wholeNumber(source: NodeJS.ProcessEnv, name: string, min: number, max: number): number {
  const value = text(source, name);
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new Error(
      `The environment variable ${name} must be a whole number from ${min} to ${max}, not ${value}.`,
    );
  }
  return number;
}
