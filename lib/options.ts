import * as z from 'zod';
import { plans } from '../shared/billing/plans.ts';
import { billingPrices } from '../shared/billing/prices.ts';
import {
  callbackWords,
  contactPattern,
  isCallback,
  maxAsyncDeadlineSeconds,
  maxExtraCreditsMonths,
  maxPastDueGraceDays,
  maxRetentionDays,
} from '../shared/base/config.ts';
import { inference } from './inference-options.ts';
import { moderation } from './moderation-options.ts';
import { secretArn } from './secret-arn.ts';
import { accountThrottle } from './throttle.ts';

const hostName = z.string().regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, 'must be a host name');
const certificateArn = z
  .string()
  .regex(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/.+$/, 'must be the ARN of an ACM certificate');
const origin = z
  .string()
  .regex(/^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/, 'must be an origin, as https://app.example.com');
const callback = z.string().refine(isCallback, `must be ${callbackWords}`);
const httpsUrl = z.url({
  protocol: /^https$/,
  hostname: z.regexes.domain,
  error: 'must be an https URL',
});
const emailAddress = z.email('must be an e-mail address');
const wholeNumber = (min: number, max: number) => z.int().min(min).max(max);

/** The highest `generationDeadlineSeconds`. */
export const maxDeadlineSeconds = 270;

/** Host names and certificates of the API and of the dashboard. */
const domain = z.strictObject({
  /** The API is at `https://NAME/api/v1`. */
  apiName: hostName,
  /** In the stack's own region. */
  apiCertificateArn: certificateArn,
  dashboardName: hostName,
  /** In us-east-1, because CloudFront requires it. */
  dashboardCertificateArn: certificateArn.regex(/:us-east-1:/, 'must be a certificate in us-east-1'),
  /** The Route 53 zone for the records of both names; null if the records are made elsewhere. */
  hostedZone: z
    .strictObject({
      id: z.string().regex(/^[A-Z0-9]{5,32}$/, 'must be the ID of a hosted zone'),
      name: hostName,
    })
    .nullable()
    .default(null),
});

/** The options of a deployment whose licenses Stripe's events make. */
const billing = z.strictObject({
  /** The partner event bus that receives Stripe's events, once it is associated. */
  eventBusName: z
    .string()
    .regex(
      /^aws\.partner\/stripe\.com\/.+$/,
      'must be the name of a Stripe partner event bus, as aws.partner/stripe.com/ed_…',
    ),
  prices: billingPrices,
  /** Whether the bus brings Stripe's real events. False for a deployment of Stripe's sandbox. Others are dropped. */
  livemode: z.boolean().default(true),
  /** How many days a license stays usable after its payment became due. */
  pastDueGraceDays: z.int().min(0).max(maxPastDueGraceDays).default(7),
  /** How many months credits last that were paid for once. */
  extraCreditsMonths: z.int().min(1).max(maxExtraCreditsMonths).default(12),
  /** A secret with a key of Stripe's, to fetch lists that an event cuts off; null: such events fail. */
  stripeKeySecretArn: secretArn.nullable().default(null),
});

/** Every option of a deployment. Every option has a default. */
export const allOptions = z.strictObject({
  /** Part of the stack's name, so that one account can have several deployments. */
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,15}$/, 'must be 1 to 16 lower-case letters and digits')
    // Cognito refuses such an address of the sign-in pages ("Domain cannot contain reserved word").
    .regex(
      /^(?!.*(aws|amazon|cognito))/,
      'must not contain "aws", "amazon" or "cognito", which Cognito refuses: choose another name',
    )
    .default('prod'),
  domain: domain.nullable().default(null),
  inference: inference.default({ kind: 'none' }),
  /** How long records and images are kept. */
  retentionDays: wholeNumber(1, maxRetentionDays).default(90),
  /** Whether images' files hold all that they were made from, the prompt and the identity's id too. Customers publish them. */
  embedParameters: z.boolean().default(false),
  /** Whether changed functions get 10% of the calls for five minutes before they get all, and go back if an alarm starts. */
  canary: z.boolean().default(true),
  /** Receives the alarms; null for nobody. */
  alarmEmail: emailAddress.nullable().default(null),
  /**
   * What the whole AWS account may cost in a month, in US dollars: alarms start at 80% and 100%; null for no alarm. "usual" is
   * three times what `npm run costs` computes for the configuration and the usual load.
   */
  monthlyBudgetUsd: z
    .union([z.literal('usual'), wholeNumber(1, 10_000_000)])
    .nullable()
    .default('usual'),
  /**
   * How long a generation may take. A JSON answer starts only when the generation is done, and API Gateway closes a
   * connection after five minutes without data.
   */
  generationDeadlineSeconds: wholeNumber(5, maxDeadlineSeconds).default(60),
  /**
   * The same for a request with `Prefer: respond-async`, which nobody waits for on the line: it also waits for a model that
   * is starting.
   */
  asyncDeadlineSeconds: wholeNumber(60, maxAsyncDeadlineSeconds).default(600),
  /** Names of models in OpenAI's format, beside ids and slugs: each with the id or slug of the identity that it means. */
  modelNames: z
    .record(
      z.string().regex(/^[!-~]{1,100}$/, 'must be 1 to 100 visible ASCII characters'),
      z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'must be the id or slug of an identity'),
    )
    .refine((names) => Object.keys(names).length <= 20, 'must be at most 20 names')
    .default({}),
  /** Web pages of these origins may call the API too, beside the dashboard. */
  allowedOrigins: z.array(origin).max(10).default([]),
  /** Addresses of other programs that a sign-in and a sign-out may return to, beside the dashboard's. */
  allowedCallbacks: z.array(callback).max(10).default([]),
  /** The rate limit and the burst limit of the whole API; null for what the account's concurrent executions can answer. */
  throttle: z
    .strictObject({
      ratePerSecond: wholeNumber(1, accountThrottle.ratePerSecond),
      burst: wholeNumber(1, accountThrottle.burst),
    })
    .nullable()
    .default(null),
  /** The limit of requests from one IP address in five minutes. */
  requestsPerAddress: wholeNumber(10, 2_000_000_000).default(3000),
  /** Whether people may sign up. If not, the operator invites them. */
  selfSignUp: z.boolean().default(false),
  /**
   * A code of an authenticator app at each sign-in. With "required" the sign-in pages ask for an app. With "optional" they
   * ask nobody: an account needs another client than the dashboard to add an app.
   */
  mfa: z.enum(['off', 'optional', 'required']).default('optional'),
  /** With it, Stripe's events create and change licenses; null if only the operator's CLI does. */
  billing: billing.nullable().default(null),
  /** E-mails to the owners of licenses, by Amazon SES; null for none. */
  mail: z
    .strictObject({
      /** The address that they come from. It or its domain is a verified identity of SES in the stack's region. */
      from: emailAddress,
    })
    .nullable()
    .default(null),
  /** Where customers change their subscriptions, as Stripe's customer portal; null for no link. */
  billingPortalUrl: httpsUrl.nullable().default(null),
  /** What accounts without a license may subscribe to, and packs of credits for those with one. */
  plans: z._default(plans, []),
  /** Where customers ask for help, and those whose servers references are fetched from: an e-mail address or a page; null for none. */
  supportContact: z
    .union([emailAddress, httpsUrl])
    .refine(
      (contact) => contactPattern.test(contact),
      'must be ASCII without spaces, parentheses and backslashes',
    )
    .nullable()
    .default(null),
  moderation: moderation.default({ prompt: { kind: 'none' } }),
  /** How long request logs are kept. */
  logRetentionDays: z.literal([1, 3, 5, 7, 14, 30, 60, 90, 180, 365]).default(30),
});
