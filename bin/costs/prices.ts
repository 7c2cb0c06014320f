export interface Price {
  /** US dollars for `per` units. */
  usd: number;
  unit: string;
  /** @default 1 */
  per?: number;
  /** How many bytes, or MB and seconds, are one unit. @default 1 */
  unitSize?: number;
  /** What of it costs nothing each month, for the whole AWS account. Not subtracted anywhere. */
  free?: string;
  /** Whether the number was read neither on AWS's own page nor on one of 2025 or later that quotes it. */
  unconfirmed?: true;
}

const million = 1_000_000;
/** AWS's GB, in bytes. */
const GB = 2 ** 30;
const unconfirmed = true;

/**
 * List prices of us-east-1, without free allowances and without discounts. Elsewhere most are up to a quarter higher:
 * change them here, and everything that is computed follows. The pages that they were read on are in docs/costs.md.
 */
export const prices = {
  lambdaDuration: { usd: 0.000_013_333_4, unit: 'GB-second', unitSize: 1024, free: '400,000', unconfirmed },
  lambdaRequests: { usd: 0.2, per: million, unit: 'requests', free: '1 million', unconfirmed },
  apiRequests: { usd: 3.5, per: million, unit: 'requests' },
  firewallAcl: { usd: 5, unit: 'web ACL and month' },
  firewallRule: { usd: 1, unit: 'rule and month' },
  firewallRequests: { usd: 0.6, per: million, unit: 'requests' },
  tableWrites: { usd: 0.625, per: million, unit: 'write units' },
  tableReads: { usd: 0.125, per: million, unit: 'read units' },
  tableStorage: { usd: 0.25, unit: 'GB-month', unitSize: GB, free: '25 GB', unconfirmed },
  recovery: { usd: 0.2, unit: 'GB-month', unitSize: GB },
  backups: { usd: 0.1, unit: 'GB-month', unitSize: GB },
  objectStorage: { usd: 0.023, unit: 'GB-month', unitSize: GB },
  objectWrites: { usd: 0.005, per: 1000, unit: 'requests', unconfirmed },
  objectReads: { usd: 0.0004, per: 1000, unit: 'requests', unconfirmed },
  internet: { usd: 0.09, unit: 'GB', unitSize: GB, free: '100 GB' },
  logIngestion: { usd: 0.5, unit: 'GB', unitSize: GB, free: '5 GB' },
  metrics: { usd: 0.3, unit: 'metric and month', free: '10' },
  alarmMetrics: { usd: 0.1, unit: 'metric in an alarm and month', free: '10', unconfirmed },
  dashboards: { usd: 3, unit: 'dashboard and month', free: '3 of up to 50 metrics' },
  traces: { usd: 5, per: million, unit: 'traces', free: '100,000' },
  schedules: { usd: 1, per: million, unit: 'invocations', free: '14 million' },
  queueRequests: { usd: 0.4, per: million, unit: 'requests', free: '1 million' },
  guardrail: { usd: 0.15, per: 1000, unit: 'text units' },
  keys: { usd: 1, unit: 'key and month' },
  activeAccounts: { usd: 0.015, unit: 'active account and month', free: '10,000' },
  edgeTraffic: { usd: 0.085, unit: 'GB', unitSize: GB, free: '1 TB' },
  edgeRequests: { usd: 0.01, per: 10_000, unit: 'requests', free: '10 million', unconfirmed },
} satisfies Record<string, Price>;

/** Of a SageMaker instance that hosts a model, on demand. AWS's page has them in a script; public programs agree on them. */
export const instanceHourUsd: Readonly<Record<string, number>> = {
  'ml.g5.xlarge': 1.408,
  'ml.g5.2xlarge': 1.515,
  'ml.g6.xlarge': 1.1267,
  'ml.g6.2xlarge': 1.222,
  'ml.g6.4xlarge': 1.654,
  'ml.g6.12xlarge': 5.752,
};
