/**
 * List prices of us-east-1, without free allowances and without discounts. Elsewhere most are up to a quarter higher:
 * change them here, and everything that is computed follows.
 */
export const pricesReadOn = '2026-11-21';

export interface Price {
  service: string;
  /** US dollars for `per` units. */
  usd: number;
  per: number;
  unit: string;
  /** The page that the number was read on. */
  source: string;
  /** Whether the number was read on AWS's own page, or on one of 2025 or later that quotes it. */
  confirmed: boolean;
  /** What of it costs nothing each month, for the whole AWS account. Not subtracted anywhere. */
  free?: string;
}

const million = 1_000_000;

export const prices = {
  lambdaDuration: {
    service: 'Lambda, Arm',
    usd: 0.000_013_333_4,
    per: 1,
    unit: 'GB-second',
    source: 'https://aws.amazon.com/lambda/pricing/',
    confirmed: false,
    free: '400,000 GB-seconds',
  },
  lambdaRequests: {
    service: 'Lambda, requests',
    usd: 0.2,
    per: million,
    unit: 'requests',
    source: 'https://aws.amazon.com/lambda/pricing/',
    confirmed: false,
    free: '1 million',
  },
  apiRequests: {
    service: 'API Gateway, REST',
    usd: 3.5,
    per: million,
    unit: 'requests',
    source: 'https://awsforengineers.com/blog/aws-api-gateway-pricing-explained',
    confirmed: true,
  },
  firewallAcl: {
    service: 'WAF, web ACL',
    usd: 5,
    per: 1,
    unit: 'web ACL and month',
    source: 'https://awsnegotiations.com/waf-pricing-strategy.html',
    confirmed: true,
  },
  firewallRule: {
    service: 'WAF, rule or managed group',
    usd: 1,
    per: 1,
    unit: 'rule and month',
    source: 'https://awsnegotiations.com/waf-pricing-strategy.html',
    confirmed: true,
  },
  firewallRequests: {
    service: 'WAF, requests',
    usd: 0.6,
    per: million,
    unit: 'requests',
    source: 'https://awsnegotiations.com/waf-pricing-strategy.html',
    confirmed: true,
  },
  tableWrites: {
    service: 'DynamoDB on demand, writes',
    usd: 0.625,
    per: million,
    unit: 'write units',
    source: 'https://airbyte.com/data-engineering-resources/dynamodb-pricing',
    confirmed: true,
  },
  tableReads: {
    service: 'DynamoDB on demand, reads',
    usd: 0.125,
    per: million,
    unit: 'read units',
    source: 'https://airbyte.com/data-engineering-resources/dynamodb-pricing',
    confirmed: true,
  },
  tableStorage: {
    service: 'DynamoDB, storage',
    usd: 0.25,
    per: 1,
    unit: 'GB-month',
    source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    confirmed: false,
    free: '25 GB',
  },
  pointInTimeRecovery: {
    service: 'DynamoDB, point-in-time recovery',
    usd: 0.2,
    per: 1,
    unit: 'GB-month',
    source: 'https://www.factualminds.com/blog/aws-backup-pricing-vaults-cross-region-restores/',
    confirmed: true,
  },
  backups: {
    service: 'AWS Backup of DynamoDB, warm',
    usd: 0.1,
    per: 1,
    unit: 'GB-month',
    source: 'https://www.factualminds.com/blog/aws-backup-pricing-vaults-cross-region-restores/',
    confirmed: true,
  },
  objectStorage: {
    service: 'S3 Standard, storage',
    usd: 0.023,
    per: 1,
    unit: 'GB-month',
    source: 'https://cloudburn.io/blog/amazon-s3-pricing',
    confirmed: true,
  },
  objectWrites: {
    service: 'S3 Standard, PUT',
    usd: 0.005,
    per: 1000,
    unit: 'requests',
    source: 'https://aws.amazon.com/s3/pricing/',
    confirmed: false,
  },
  objectReads: {
    service: 'S3 Standard, GET and HEAD',
    usd: 0.0004,
    per: 1000,
    unit: 'requests',
    source: 'https://aws.amazon.com/s3/pricing/',
    confirmed: false,
  },
  internet: {
    service: 'Data to the internet, first 10 TB',
    usd: 0.09,
    per: 1,
    unit: 'GB',
    source: 'https://awsforengineers.com/blog/aws-api-gateway-pricing-explained',
    confirmed: true,
    free: '100 GB',
  },
  logIngestion: {
    service: 'CloudWatch Logs, ingestion',
    usd: 0.5,
    per: 1,
    unit: 'GB',
    source: 'https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/',
    confirmed: true,
    free: '5 GB',
  },
  logStorage: {
    service: 'CloudWatch Logs, storage of what is compressed',
    usd: 0.03,
    per: 1,
    unit: 'GB-month',
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
    confirmed: false,
  },
  metrics: {
    service: 'CloudWatch, custom or detailed metric',
    usd: 0.3,
    per: 1,
    unit: 'metric and month',
    source: 'https://signoz.io/guides/cloudwatch-pricing',
    confirmed: true,
    free: '10',
  },
  alarmMetrics: {
    service: 'CloudWatch, alarm',
    usd: 0.1,
    per: 1,
    unit: 'metric that an alarm watches and month',
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
    confirmed: false,
    free: '10',
  },
  dashboards: {
    service: 'CloudWatch, dashboard',
    usd: 3,
    per: 1,
    unit: 'dashboard and month',
    source: 'https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/',
    confirmed: true,
    free: '3 of up to 50 metrics',
  },
  traces: {
    service: 'X-Ray, traces',
    usd: 5,
    per: million,
    unit: 'traces',
    source: 'https://aws.amazon.com/xray/pricing/',
    confirmed: true,
    free: '100,000',
  },
  schedules: {
    service: 'EventBridge Scheduler',
    usd: 1,
    per: million,
    unit: 'invocations',
    source: 'https://cloudburn.io/blog/amazon-eventbridge-pricing',
    confirmed: true,
    free: '14 million',
  },
  queueRequests: {
    service: 'SQS, standard',
    usd: 0.4,
    per: million,
    unit: 'requests',
    source: 'https://cloudburn.io/blog/amazon-sqs-pricing',
    confirmed: true,
    free: '1 million',
  },
  keys: {
    service: 'KMS, key of the account',
    usd: 1,
    per: 1,
    unit: 'key and month',
    source: 'https://aws.amazon.com/kms/pricing/',
    confirmed: true,
  },
  activeAccounts: {
    service: 'Cognito Essentials',
    usd: 0.015,
    per: 1,
    unit: 'active account and month',
    source:
      'https://raw.githubusercontent.com/api-evangelist/amazon-cognito/refs/heads/main/plans/amazon-cognito-plans-pricing.yml',
    confirmed: true,
    free: '10,000',
  },
  edgeTraffic: {
    service: 'CloudFront, data out, first 10 TB',
    usd: 0.085,
    per: 1,
    unit: 'GB',
    source: 'https://aws.amazon.com/cloudfront/pricing/',
    confirmed: true,
    free: '1 TB',
  },
  edgeRequests: {
    service: 'CloudFront, HTTPS requests',
    usd: 0.01,
    per: 10_000,
    unit: 'requests',
    source: 'https://aws.amazon.com/cloudfront/pricing/',
    confirmed: false,
    free: '10 million',
  },
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;
