/**
 * Every metric that the service's own code reports, in one table: functions write them, infrastructure draws them and
 * raises alarms on them. What AWS measures by itself (invocations, durations, throttles) is not measured again.
 */
export const metricNamespace = 'ImageGeneration';

/** The dimension that every metric has: which deployment it is of. */
export const serviceDimension = 'service';

/** The other dimension of what a deployment looks at: a function's name and version. */
export const versionDimension = 'version';

export const metricTable = {
  /** Faults of ours alone: alarms look at them. `countError` decides. */
  errors: { name: 'Errors', unit: 'Count', by: 'code' },
  /** All other errors. */
  refusals: { name: 'Refusals', unit: 'Count', by: 'code' },
  /** Those among them that were answered with 5xx, which API Gateway counts as errors. */
  refusedWith5xx: { name: 'RefusedWith5xx', unit: 'Count' },
  /** Accepted requests that ended by one of them, but in the model's line: a model that hangs may say that they wait. */
  refusedRuns: { name: 'RefusedRuns', unit: 'Count' },
  /** Those whose pictures or reference images the model's check refused, each once. Only where it has one. */
  refusedPictures: { name: 'RefusedPictures', unit: 'Count' },
  /** From the request's arrival to the reservation of its credits. */
  acceptTime: { name: 'AcceptTime', unit: 'Milliseconds' },
  /** From the reservation to the model's start. */
  queueWait: { name: 'QueueWait', unit: 'Milliseconds' },
  /** The same for requests whose callers do not wait: they may wait for a model that is scaled to zero. */
  asyncWait: { name: 'AsyncWait', unit: 'Milliseconds' },
  /** From the model's start to the last image seen in the store. */
  paintTime: { name: 'PaintTime', unit: 'Milliseconds' },
  /** From the last image seen to the stored charge. */
  settleTime: { name: 'SettleTime', unit: 'Milliseconds' },
  creditsReserved: { name: 'CreditsReserved', unit: 'Count' },
  creditsSettled: { name: 'CreditsSettled', unit: 'Count' },
  creditsReleased: { name: 'CreditsReleased', unit: 'Count' },
  imagesDelivered: { name: 'ImagesDelivered', unit: 'Count' },
  imageBytes: { name: 'ImageBytes', unit: 'Bytes' },
  /** Abandoned requests that the sweep ended, and those that it could not end. */
  leasesReleased: { name: 'LeasesReleased', unit: 'Count' },
  sweepFailures: { name: 'SweepFailures', unit: 'Count' },
  /** Owners who were notified of used credits, and tries that failed. */
  noticesSent: { name: 'NoticesSent', unit: 'Count' },
  noticeFailures: { name: 'NoticeFailures', unit: 'Count' },
  /** Subscriptions that nobody has owned for an hour. Only where there are any. */
  unboundSubscriptions: { name: 'UnboundSubscriptions', unit: 'Count' },
  /** Looks at the dashboard that got no page. Only where there are any. */
  dashboardFaults: { name: 'DashboardFaults', unit: 'Count' },
  billingEvents: { name: 'BillingEvents', unit: 'Count', by: 'outcome' },
  /** Only where prompts are checked: allowed, refused, and failed where there was no verdict. */
  promptChecks: { name: 'PromptChecks', unit: 'Count', by: 'outcome' },
} as const satisfies Record<string, Metric>;

export interface Metric {
  name: string;
  unit: 'Count' | 'Milliseconds' | 'Bytes';
  /** A second dimension. */
  by?: 'code' | 'outcome';
}

type Table = typeof metricTable;

/** A metric without a second dimension. */
export type MetricName = {
  [Name in keyof Table]: Table[Name] extends { by: string } ? never : Name;
}[keyof Table];

/** A metric that is counted by a second dimension's values. */
export type CountedName = Exclude<keyof Table, MetricName>;

/** What is measured while one request or job runs. */
export interface Meter {
  add(metric: MetricName, value: number): void;
  count(metric: CountedName, value: string): void;
}
