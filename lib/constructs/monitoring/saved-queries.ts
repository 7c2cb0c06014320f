/**
 * Queries for CloudWatch Logs Insights, by name, to the logs of all functions and to the access log of API Gateway. The
 * console lists each with its log groups already chosen. docs/runbook.md shows each of them, word for word.
 */
export const savedQueries = {
  functions: {
    errors: `filter message = "request" and ispresent(code)
| stats count(*) as requests, max(@timestamp) as newest by code, route, status
| sort requests desc`,
    causes: `filter level = "error"
| fields @timestamp, requestId, message, code, causes.0.name as what, coalesce(causes.0.message, causes.0.code) as why, coalesce(causes.1.message, causes.1.name) as because
| sort @timestamp desc
| limit 50`,
    crashes: `filter @message like /Task timed out|Runtime exited|Runtime\\.|Uncaught Exception|Unhandled Promise|Invoke Error/
| fields @timestamp, @log, @message
| sort @timestamp desc
| limit 50`,
    slowest: `filter message = "request"
| fields @timestamp, requestId, route, status, code, durationMs, AcceptTime, QueueWait, PaintTime, SettleTime
| sort durationMs desc
| limit 50`,
    credits: `filter ispresent(CreditsReserved) or ispresent(CreditsReleased)
| stats sum(CreditsReserved) as reserved, sum(CreditsSettled) as settled, sum(CreditsReleased) as released, sum(LeasesReleased) as leases, sum(SweepFailures) as failures by bin(5m)`,
    unbalanced: `filter message = "request" and CreditsReserved > 0 and not ispresent(CreditsSettled) and not ispresent(CreditsReleased)
| fields @timestamp, requestId, route, status, code, CreditsReserved
| sort @timestamp desc`,
    billing: `filter message = "billing event" and outcome = "failed"
| fields @timestamp, eventId, eventType, subscriptionId, licenseId, reason, sentence
| sort @timestamp desc
| limit 50`,
    charges: `filter message = "request" and licenseId = "LICENSE" and CreditsSettled > 0
| fields @timestamp, requestId, keyId, CreditsSettled, ImagesDelivered
| sort @timestamp asc
| limit 1000`,
    'key-use': `filter message = "request" and keyId = "KEY"
| stats count(*) as requests, sum(CreditsSettled) as credits by route, status, bin(1h)`,
    'one-request': `filter requestId = "REQUEST"
| fields @timestamp, @message
| sort @timestamp asc`,
  },
  gateway: {
    gateway: `filter status >= 400
| stats count(*) as requests by status, gatewayError, route, functionStatus
| sort requests desc`,
    addresses: `filter status >= 400
| stats count(*) as requests by ip, status, gatewayError, firewall
| sort requests desc
| limit 20`,
  },
};
