import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { maxRetentionDays } from '../shared/config.ts';
import { billingPrices } from '../shared/contracts/billing-prices.ts';

const hostName = z.string().regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, 'must be a host name');
const certificateArn = z
  .string()
  .regex(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/.+$/, 'must be the ARN of an ACM certificate');
const origin = z
  .string()
  .regex(/^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/, 'must be an origin, as https://app.example.com');
const wholeNumber = (min: number, max: number) => z.int().min(min).max(max);

/** A name of its own for each of the two web addresses; a certificate for each, in the region that AWS wants it in. */
const domain = z.strictObject({
  /** Of the API: `https://NAME/api/v1`. */
  apiName: hostName,
  /** In the stack's own region. */
  apiCertificateArn: certificateArn,
  dashboardName: hostName,
  /** In us-east-1, as CloudFront wants. */
  dashboardCertificateArn: certificateArn.regex(/:us-east-1:/, 'must be a certificate in us-east-1'),
  /** The Route 53 zone that both names are entered in; null when they are entered elsewhere. */
  hostedZone: z
    .strictObject({
      id: z.string().regex(/^[A-Z0-9]{5,32}$/, 'must be the ID of a hosted zone'),
      name: hostName,
    })
    .nullable()
    .default(null),
});

const modelEndpoint = z
  .strictObject({
    kind: z.literal('endpoint'),
    /** A folder with a Dockerfile, or the URI of an image in ECR. */
    image: z
      .union([
        z.strictObject({ folder: z.string().min(1) }),
        z.strictObject({
          uri: z
            .string()
            .regex(
              /^\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?\/.+[:@].+$/,
              'must be the URI of an image in ECR, with its tag or digest',
            ),
        }),
      ])
      .default({ folder: 'inference' }),
    /** Model data in S3: everything below the prefix becomes `/opt/ml/model`. */
    modelData: z
      .string()
      .regex(
        /^s3:\/\/[a-z0-9.-]{3,63}\/(.+\/)?$/,
        'must be an S3 prefix that ends in "/", as s3://bucket/models/sdxl/',
      ),
    instanceType: z
      .string()
      .regex(/^ml\.[a-z0-9-]+\.[a-z0-9]+$/, 'must be a SageMaker instance type, as ml.g6.xlarge')
      .default('ml.g6.xlarge'),
    /**
     * The instances' system, which decides their GPU driver; null for SageMaker's choice. CUDA 13, which the image of
     * `inference/` has, needs a driver from 580 on, and what SageMaker chooses by itself is older on most types.
     */
    amiVersion: z
      .string()
      .regex(
        /^[a-z0-9-]+$/,
        "must be one of SageMaker's names for it, as al2023-ami-sagemaker-inference-gpu-4-1",
      )
      .nullable()
      .default('al2023-ami-sagemaker-inference-gpu-4-1'),
    minInstances: wholeNumber(1, 100).default(1),
    maxInstances: wholeNumber(1, 100).default(2),
    /** Requests that one instance should have at once, waiting ones too, before another is started. */
    targetConcurrency: wholeNumber(1, 100).default(2),
    /** Settings of the container, by name. */
    environment: z
      .record(z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of a variable'), z.string())
      .default({}),
  })
  .refine(({ minInstances, maxInstances }) => minInstances <= maxInstances, {
    path: ['minInstances'],
    message: 'must be at most maxInstances',
  });

const inference = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('existing'),
    endpointName: z
      .string()
      .regex(/^[A-Za-z0-9](-*[A-Za-z0-9]){0,62}$/, 'must be the name of a SageMaker endpoint'),
  }),
  modelEndpoint,
]);

const billing = z.strictObject({
  /** The partner event bus that Stripe's events come by, once it is associated. */
  eventBusName: z
    .string()
    .regex(
      /^aws\.partner\/stripe\.com\/.+$/,
      'must be the name of a Stripe partner event bus, as aws.partner/stripe.com/ed_…',
    ),
  prices: billingPrices,
});

/** Every option of a deployment. What is left out has a default that deploys. */
export const configuration = z.strictObject({
  /** Part of the stack's name: several deployments live in one account side by side. */
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,15}$/, 'must be 1 to 16 lower-case letters and digits')
    .default('prod'),
  domain: domain.nullable().default(null),
  inference: inference.default({ kind: 'none' }),
  /** How long records and images are kept. */
  retentionDays: wholeNumber(1, maxRetentionDays).default(90),
  /** Who is told of alarms; null for nobody. */
  alarmEmail: z.email('must be an e-mail address').nullable().default(null),
  /**
   * What a generation may take. An answer in one piece begins when it is over, and API Gateway ends a connection on
   * which nothing came for five minutes.
   */
  generationDeadlineSeconds: wholeNumber(5, 270).default(60),
  /** Origins beside the dashboard's own whose pages may call the API from a browser. */
  allowedOrigins: z.array(origin).max(10).default([]),
  /** Requests a second that the whole API takes, and how many it takes at once. */
  throttle: z
    .strictObject({ ratePerSecond: wholeNumber(1, 10_000), burst: wholeNumber(1, 5000) })
    .default({ ratePerSecond: 100, burst: 200 }),
  /** Requests that one IP address may send in five minutes. */
  requestsPerAddress: wholeNumber(10, 2_000_000_000).default(3000),
  /** Whether people may make themselves an account; otherwise the operator invites them. */
  selfSignUp: z.boolean().default(false),
  /** Stripe's events make and change licenses; null where only the operator's CLI does. */
  billing: billing.nullable().default(null),
  /** How long logs of requests are kept. */
  logRetentionDays: z.literal([1, 3, 5, 7, 14, 30, 60, 90, 180, 365]).default(30),
});

export type Configuration = z.output<typeof configuration>;
export type Inference = Configuration['inference'];
export type ModelEndpoint = Extract<Inference, { kind: 'endpoint' }>;
export type Domain = NonNullable<Configuration['domain']>;

/** What the stack of a stage is called, to CloudFormation and to the CDK. */
export function stackNameOf({ stage }: Pick<Configuration, 'stage'>): string {
  return `image-generation-${stage}`;
}

/** A configuration that can't be deployed, in a sentence that names every option that is wrong. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
}

/** @throws ConfigurationError */
export function readConfiguration(value: unknown, source: string): Configuration {
  const result = configuration.safeParse(value ?? {}, { reportInput: false });
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(issue));
  throw new ConfigurationError(`${source} can't be deployed: ${problems.join('; ')}.`);
}

/** The options in a JSON file. @throws ConfigurationError */
export function readConfigurationFile(path: string): Configuration {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`The configuration ${path} can't be read.`, { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError(`The configuration ${path} is not valid JSON.`, { cause });
  }
  return readConfiguration(value, `The configuration ${path}`);
}

function describe(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map((part) => String(part)).join('.');
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `there is no option ${at(key)}`);
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return [
      `${path}: ${issue.errors.map((errors) => errors.map(({ message }) => message).join(', ')).join(', or ')}`,
    ];
  }
  return [`${path === '' ? 'the whole' : path}: ${issue.message}`];
}
