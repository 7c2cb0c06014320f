import * as z from 'zod/mini';

/** What an account may buy. */
const planCard = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** A month, or once where it is a pack. */
  credits: z.int(),
  price: z.number(),
  /** ISO 4217 */
  currency: z.string(),
  /** Where it is bought. The dashboard adds who buys it. */
  link: z.string(),
  /** A pack of credits for a license that is there. */
  once: z.boolean(),
  /** What its tier can do. Null for a pack of every tier. */
  tier: z.nullable(
    z.strictObject({ label: z.string(), maxOutputs: z.int(), maxSidePx: z.int(), maxInFlight: z.int() }),
  ),
});
export type PlanCard = z.infer<typeof planCard>;

/** `/config.json`: all that a dashboard knows of where it runs. */
export const dashboardConfig = z.object({
  /** With the version, without a slash at the end. */
  apiBaseUrl: z.string(),
  signIn: z.strictObject({
    /** The user pool's issuer. */
    issuer: z.string(),
    clientId: z.string(),
    /** Where `/oauth2/authorize`, `/oauth2/token`, `/oauth2/revoke` and `/logout` are. */
    domainUrl: z.string(),
    /** Of the user pools API, where an account changes its password and its second factor. */
    userPoolsUrl: z.string(),
  }),
  /** The second factor of a sign-in, a code of an authenticator app. */
  mfa: z.enum(['off', 'optional', 'required']),
  /** How many days requests and images are kept. */
  retentionDays: z.int(),
  /** Whether owners are notified by e-mail of their used credits. */
  creditMails: z.boolean(),
  /** Where customers change their subscriptions; null where the deployment names no place. */
  billingPortalUrl: z.nullable(z.string()),
  /** Where customers ask for help, an e-mail address or a page; null where the deployment names none. */
  supportContact: z.nullable(z.string()),
  /** In the operator's order. */
  plans: z.array(planCard),
});

export type DashboardConfig = z.infer<typeof dashboardConfig>;

/** Origins beside its own that the dashboard's pages may use. */
export interface DashboardSources {
  /** For requests: the API, the sign-in domain, the user pools API, the bucket of images. */
  readonly connectSources: readonly string[];
  /** For images: the bucket. */
  readonly imageSources: readonly string[];
}

/** Security headers of the dashboard's every answer. */
export function securityHeaders({ connectSources, imageSources }: DashboardSources) {
  const policy = [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    ["img-src 'self' data: blob:", ...imageSources].join(' '),
    ["connect-src 'self'", ...connectSources].join(' '),
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  };
}
