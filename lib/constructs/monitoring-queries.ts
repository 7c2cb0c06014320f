/** A question to the logs, saved where the console finds it: with the log groups to ask already chosen. */
export interface SavedQuery {
  readonly name: string;
  /** Which logs are asked: what all functions say, or the gateway's line of each request. */
  readonly logs: 'functions' | 'gateway';
  readonly lines: readonly string[];
}

/** docs/runbook.md has each of them, word by word. */
export const savedQueries: readonly SavedQuery[] = [
  {
    name: 'errors',
    logs: 'functions',
    lines: [
      'filter message = "request" and ispresent(code)',
      'stats count(*) as requests, max(@timestamp) as newest by code, route, status',
      'sort requests desc',
    ],
  },
  {
    name: 'causes',
    logs: 'functions',
    lines: [
      'filter level = "error"',
      'fields @timestamp, requestId, message, code, causes.0.name as what, coalesce(causes.0.message, causes.0.code) as why, coalesce(causes.1.message, causes.1.name) as because',
      'sort @timestamp desc',
      'limit 50',
    ],
  },
  {
    name: 'crashes',
    logs: 'functions',
    lines: [
      'filter @message like /Task timed out|Runtime exited|Runtime\\.|Uncaught Exception|Unhandled Promise|Invoke Error/',
      'fields @timestamp, @log, @message',
      'sort @timestamp desc',
      'limit 50',
    ],
  },
  {
    name: 'slowest',
    logs: 'functions',
    lines: [
      'filter message = "request"',
      'fields @timestamp, requestId, route, status, code, durationMs, AcceptTime, QueueWait, PaintTime, SettleTime',
      'sort durationMs desc',
      'limit 50',
    ],
  },
  {
    name: 'credits',
    logs: 'functions',
    lines: [
      'filter ispresent(CreditsReserved) or ispresent(CreditsReleased)',
      'stats sum(CreditsReserved) as reserved, sum(CreditsSettled) as settled, sum(CreditsReleased) as released, sum(LeasesReleased) as leases, sum(SweepFailures) as failures by bin(5m)',
    ],
  },
  {
    name: 'unbalanced',
    logs: 'functions',
    lines: [
      'filter message = "request" and CreditsReserved > 0 and not ispresent(CreditsSettled) and not ispresent(CreditsReleased)',
      'fields @timestamp, requestId, route, status, code, CreditsReserved',
      'sort @timestamp desc',
    ],
  },
  {
    name: 'billing',
    logs: 'functions',
    lines: [
      'filter message = "billing event" and outcome = "failed"',
      'fields @timestamp, eventId, eventType, subscriptionId, licenseId, reason, sentence',
      'sort @timestamp desc',
      'limit 50',
    ],
  },
  {
    name: 'charges',
    logs: 'functions',
    lines: [
      'filter message = "request" and licenseId = "LICENSE" and CreditsSettled > 0',
      'fields @timestamp, requestId, keyId, CreditsSettled, ImagesDelivered',
      'sort @timestamp asc',
      'limit 1000',
    ],
  },
  {
    name: 'key-use',
    logs: 'functions',
    lines: [
      'filter message = "request" and keyId = "KEY"',
      'stats count(*) as requests, sum(CreditsSettled) as credits by route, status, bin(1h)',
    ],
  },
  {
    name: 'one-request',
    logs: 'functions',
    lines: ['filter requestId = "REQUEST"', 'fields @timestamp, @message', 'sort @timestamp asc'],
  },
  {
    name: 'gateway',
    logs: 'gateway',
    lines: [
      'filter status >= 400',
      'stats count(*) as requests by status, gatewayError, route, functionStatus',
      'sort requests desc',
    ],
  },
  {
    name: 'addresses',
    logs: 'gateway',
    lines: [
      'filter status >= 400',
      'stats count(*) as requests by ip, status, gatewayError, firewall',
      'sort requests desc',
      'limit 20',
    ],
  },
];
