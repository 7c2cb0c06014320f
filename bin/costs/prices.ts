/**
 * List prices of us-east-1, without free allowances and without discounts. Elsewhere most are up to a quarter higher:
 * change them here, and everything that is computed follows.
 */
export const pricesReadOn = '2026-11-21';

interface ListPrice {
  service: string;
  /** US dollars for `per` units. */
  usd: number;
  /** @default 1 */
  per?: number;
  unit: string;
  /** What of it costs nothing each month, for the whole AWS account. Not subtracted anywhere. */
  free?: string;
}

export interface Price extends ListPrice {
  per: number;
  /** The page that the number was read on. */
  source: string;
  /** Whether the number was read on AWS's own page, or on one of 2025 or later that quotes it. */
  confirmed: boolean;
}

const million = 1_000_000;

export const prices = {
  ...unconfirmed('https://aws.amazon.com/lambda/pricing/', {
    lambdaDuration: {
      service: 'Lambda, Arm',
      usd: 0.000_013_333_4,
      unit: 'GB-second',
      free: '400,000 GB-seconds',
    },
    lambdaRequests: {
      service: 'Lambda, requests',
      usd: 0.2,
      per: million,
      unit: 'requests',
      free: '1 million',
    },
  }),
  ...confirmed('https://awsforengineers.com/blog/aws-api-gateway-pricing-explained', {
    apiRequests: { service: 'API Gateway, REST', usd: 3.5, per: million, unit: 'requests' },
  }),
  ...confirmed('https://awsnegotiations.com/waf-pricing-strategy.html', {
    firewallAcl: { service: 'WAF, web ACL', usd: 5, unit: 'web ACL and month' },
    firewallRule: { service: 'WAF, rule or managed group', usd: 1, unit: 'rule and month' },
    firewallRequests: { service: 'WAF, requests', usd: 0.6, per: million, unit: 'requests' },
  }),
  ...confirmed('https://airbyte.com/data-engineering-resources/dynamodb-pricing', {
    tableWrites: { service: 'DynamoDB on demand, writes', usd: 0.625, per: million, unit: 'write units' },
    tableReads: { service: 'DynamoDB on demand, reads', usd: 0.125, per: million, unit: 'read units' },
  }),
  ...unconfirmed('https://aws.amazon.com/dynamodb/pricing/on-demand/', {
    tableStorage: { service: 'DynamoDB, storage', usd: 0.25, unit: 'GB-month', free: '25 GB' },
  }),
  ...confirmed('https://www.factualminds.com/blog/aws-backup-pricing-vaults-cross-region-restores/', {
    pointInTimeRecovery: { service: 'DynamoDB, point-in-time recovery', usd: 0.2, unit: 'GB-month' },
    backups: { service: 'AWS Backup of DynamoDB, warm', usd: 0.1, unit: 'GB-month' },
  }),
  ...confirmed('https://cloudburn.io/blog/amazon-s3-pricing', {
    objectStorage: { service: 'S3 Standard, storage', usd: 0.023, unit: 'GB-month' },
  }),
  ...unconfirmed('https://aws.amazon.com/s3/pricing/', {
    objectWrites: { service: 'S3 Standard, PUT', usd: 0.005, per: 1000, unit: 'requests' },
    objectReads: { service: 'S3 Standard, GET and HEAD', usd: 0.0004, per: 1000, unit: 'requests' },
  }),
  ...confirmed('https://awsforengineers.com/blog/aws-api-gateway-pricing-explained', {
    internet: { service: 'Data to the internet, first 10 TB', usd: 0.09, unit: 'GB', free: '100 GB' },
  }),
  ...confirmed(
    'https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/',
    {
      logIngestion: { service: 'CloudWatch Logs, ingestion', usd: 0.5, unit: 'GB', free: '5 GB' },
    },
  ),
  ...unconfirmed('https://aws.amazon.com/cloudwatch/pricing/', {
    logStorage: { service: 'CloudWatch Logs, storage of what is compressed', usd: 0.03, unit: 'GB-month' },
  }),
  ...confirmed('https://signoz.io/guides/cloudwatch-pricing', {
    metrics: {
      service: 'CloudWatch, custom or detailed metric',
      usd: 0.3,
      unit: 'metric and month',
      free: '10',
    },
  }),
  ...unconfirmed('https://aws.amazon.com/cloudwatch/pricing/', {
    alarmMetrics: {
      service: 'CloudWatch, alarm',
      usd: 0.1,
      unit: 'metric that an alarm watches and month',
      free: '10',
    },
  }),
  ...confirmed(
    'https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/',
    {
      dashboards: {
        service: 'CloudWatch, dashboard',
        usd: 3,
        unit: 'dashboard and month',
        free: '3 of up to 50 metrics',
      },
    },
  ),
  ...confirmed('https://aws.amazon.com/xray/pricing/', {
    traces: { service: 'X-Ray, traces', usd: 5, per: million, unit: 'traces', free: '100,000' },
  }),
  ...confirmed('https://cloudburn.io/blog/amazon-eventbridge-pricing', {
    schedules: {
      service: 'EventBridge Scheduler',
      usd: 1,
      per: million,
      unit: 'invocations',
      free: '14 million',
    },
  }),
  ...confirmed('https://cloudburn.io/blog/amazon-sqs-pricing', {
    queueRequests: { service: 'SQS, standard', usd: 0.4, per: million, unit: 'requests', free: '1 million' },
  }),
  ...confirmed('https://aws.amazon.com/kms/pricing/', {
    keys: { service: 'KMS, key of the account', usd: 1, unit: 'key and month' },
  }),
  ...confirmed(
    'https://raw.githubusercontent.com/api-evangelist/amazon-cognito/refs/heads/main/plans/amazon-cognito-plans-pricing.yml',
    {
      activeAccounts: {
        service: 'Cognito Essentials',
        usd: 0.015,
        unit: 'active account and month',
        free: '10,000',
      },
    },
  ),
  ...confirmed('https://aws.amazon.com/cloudfront/pricing/', {
    edgeTraffic: { service: 'CloudFront, data out, first 10 TB', usd: 0.085, unit: 'GB', free: '1 TB' },
  }),
  ...unconfirmed('https://aws.amazon.com/cloudfront/pricing/', {
    edgeRequests: {
      service: 'CloudFront, HTTPS requests',
      usd: 0.01,
      per: 10_000,
      unit: 'requests',
      free: '10 million',
    },
  }),
} satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;

function confirmed<Name extends string>(source: string, rows: Record<Name, ListPrice>, isConfirmed = true) {
  const all = Object.entries<ListPrice>(rows).map(([name, row]) => [
    name,
    { per: 1, ...row, source, confirmed: isConfirmed },
  ]);
  return Object.fromEntries(all) as Record<Name, Price>;
}

function unconfirmed<Name extends string>(source: string, rows: Record<Name, ListPrice>) {
  return confirmed(source, rows, false);
}
