import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { errorCodes } from '../../shared/base/errors.ts';
import { firewallFailures, type GatewayFailure } from '../../shared/routes/gateway-failures.ts';
import { answerHeaders, basePath } from '../../shared/routes/api.ts';
import { maxBodyBytes, maxFormBytes } from '../../shared/routes/limits.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Configuration } from '../configuration.ts';
import { graph, period } from './monitoring/metrics.ts';
import type { AlarmRow, Watched, Widgets } from './monitoring/watched.ts';

export interface FirewallProps extends Pick<Configuration, 'requestsPerAddress'> {
  readonly api: RestApi;
  readonly logRetention: RetentionDays;
}

/** Matches a Content-Length above a limit. AWS WAF can compare a header only as text. */
function bodiesOver(limit: number): CfnWebACL.StatementProperty {
  const digits = String(limit);
  const larger = [...digits].flatMap((digit, i) =>
    digit === '9' ? [] : `${digits.slice(0, i)}[${Number(digit) + 1}-9]\\d{${digits.length - i - 1}}`,
  );
  const above = `^0*([1-9]\\d{${digits.length},}|${larger.join('|')})$`;
  return matches({ singleHeader: { Name: 'content-length' } }, above);
}

/** The path with a limit of its own, behind the stage or not. */
const takesForms = `${basePath}${routes.editOpenAiImage.path}$`;

/** The shape of what the functions may take for an API key or an access token, of which they look up the one and verify the other. */
const credentials = '^[Bb][Ee][Aa][Rr][Ee][Rr] +(svc_live_[0-9A-Za-z]{38}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+) *$';

/** Of one IP address in five minutes: enough for a monitor, and for a program with a wrong key until somebody looks. */
const requestsWithoutCredentials = 300;

/**
 * AWS's managed rules in front of the API, limits for each IP address, and limits for bodies, so that no function
 * starts for a larger one. Rules that inspect bodies only count, because a prompt may contain any text.
 */
export class Firewall extends Construct implements Watched {
  private readonly webAcl: CfnWebACL;

  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    this.webAcl = new CfnWebACL(this, 'WebAcl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      // The name of the metrics of all rules together.
      visibilityConfig: visibility(Stack.of(this).stackName),
      customResponseBodies: Object.fromEntries(
        Object.entries(firewallFailures).map(([key, { code, error }]) => [
          key,
          { contentType: 'APPLICATION_JSON', content: JSON.stringify({ error, code }) },
        ]),
      ),
      rules: [...ownRules(props.requestsPerAddress), ...managedRules()],
    });
    const { deploymentStage } = props.api;
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: deploymentStage.stageArn,
      webAclArn: this.webAcl.attrArn,
    });
    this.logBlocked(props.logRetention);
  }

  get alarms(): AlarmRow[] {
    return [
      {
        id: 'firewall-blocks',
        capability: 'firewall',
        severity: 'warning',
        means: 'The firewall refuses very many requests.',
        metric: this.blockedRequests(),
        threshold: 1000,
        periods: 3,
      },
    ];
  }

  get widgets(): Widgets {
    return { storage: [graph('Firewall: refused', [this.blockedRequests('refused')])] };
  }

  /** Requests that all rules refused. AWS WAF reports under the name in `visibilityConfig`, not under the ACL's own. */
  private blockedRequests(label?: string): Metric {
    const { stackName, region } = Stack.of(this);
    return new Metric({
      namespace: 'AWS/WAFV2',
      metricName: 'BlockedRequests',
      dimensionsMap: { WebACL: stackName, Region: region, Rule: 'ALL' },
      statistic: Stats.SUM,
      period,
      ...(label !== undefined && { label }),
    });
  }

  /** Logs which request was blocked by which rule, without secrets of the caller. */
  private logBlocked(retention: RetentionDays): void {
    const log = new LogGroup(this, 'Log', {
      // AWS requires this prefix.
      logGroupName: `aws-waf-logs-${Stack.of(this).stackName}`,
      retention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const blocked = { ActionCondition: { Action: 'BLOCK' } };
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: this.webAcl.attrArn,
      // AWS WAF wants the ARN without the `:*` at its end.
      logDestinationConfigs: [
        Stack.of(this).formatArn({
          service: 'logs',
          resource: 'log-group',
          resourceName: log.logGroupName,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
      redactedFields: [{ singleHeader: { Name: 'authorization' } }, { queryString: {} }, { uriPath: {} }],
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions: [blocked] }],
      },
    });
  }
}

function ownRules(requestsPerAddress: number): CfnWebACL.RuleProperty[] {
  const isExempt = {
    orStatement: {
      statements: [
        // A request without the header does not match.
        matches({ singleHeader: { Name: 'authorization' } }, credentials),
        // Browsers send no such header in a preflight, and a preflight for each new address of a resource.
        matches({ method: {} }, '^OPTIONS$'),
      ],
    },
  };
  return [
    {
      name: 'body-over-1-mib',
      priority: 0,
      action: block('tooLarge', firewallFailures.tooLarge),
      visibilityConfig: visibility('body-over-1-mib'),
      statement: {
        andStatement: {
          statements: [
            bodiesOver(maxBodyBytes),
            { notStatement: { statement: matches({ uriPath: {} }, takesForms) } },
          ],
        },
      },
    },
    {
      name: 'form-over-its-limit',
      priority: 1,
      action: block('tooLargeForm', firewallFailures.tooLargeForm),
      visibilityConfig: visibility('form-over-its-limit'),
      statement: bodiesOver(maxFormBytes),
    },
    {
      // Before the rule for all, so that a program without a key uses up little of what others have at its address.
      name: 'requests-without-credentials',
      priority: 2,
      action: block('tooManyWithoutCredentials', firewallFailures.tooManyWithoutCredentials),
      visibilityConfig: visibility('requests-without-credentials'),
      statement: limitOf(requestsWithoutCredentials, { notStatement: { statement: isExempt } }),
    },
    {
      name: 'requests-per-address',
      priority: 3,
      action: block('tooManyFromOneAddress', firewallFailures.tooManyFromOneAddress),
      visibilityConfig: visibility('requests-per-address'),
      statement: limitOf(requestsPerAddress),
    },
  ];
}

/** @param regexString what a part of the request matches */
export function matches(
  fieldToMatch: CfnWebACL.FieldToMatchProperty,
  regexString: string,
): CfnWebACL.StatementProperty {
  const textTransformations = [{ priority: 0, type: 'NONE' }];
  return { regexMatchStatement: { fieldToMatch, regexString, textTransformations } };
}

/** Of one IP address in five minutes, as AWS WAF estimates it. @param of the requests that count. @default all */
export function limitOf(limit: number, of?: CfnWebACL.StatementProperty): CfnWebACL.StatementProperty {
  const scope = of && { scopeDownStatement: of };
  return { rateBasedStatement: { aggregateKeyType: 'IP', evaluationWindowSec: 300, limit, ...scope } };
}

/** 925 capacity units; with the 19 of the own rules they stay below the 1,500 of a web ACL without an extra price. */
function managedRules(): CfnWebACL.RuleProperty[] {
  return [
    managed(4, 'AWSManagedRulesAmazonIpReputationList', []),
    managed(5, 'AWSManagedRulesCommonRuleSet', [
      // The functions check bodies.
      'SizeRestrictions_BODY',
      'CrossSiteScripting_BODY',
      'GenericLFI_BODY',
      'GenericRFI_BODY',
      'EC2MetaDataSSRF_BODY',
      // API clients may leave it out.
      'NoUserAgent_HEADER',
    ]),
    managed(6, 'AWSManagedRulesKnownBadInputsRuleSet', [
      'JavaDeserializationRCE_BODY',
      'Log4JRCE_BODY',
      'ReactJSRCE_BODY',
    ]),
  ];
}

export function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  // Samples would show whole headers, and so API keys.
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false };
}

function block(key: keyof typeof firewallFailures, failure: GatewayFailure): CfnWebACL.RuleActionProperty {
  const { code, retryAfterSeconds } = failure;
  const { status } = errorCodes[code];
  const headers = {
    ...answerHeaders(status),
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  };
  return {
    block: {
      customResponse: {
        responseCode: status,
        customResponseBodyKey: key,
        responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
      },
    },
  };
}

/** @param counted rules of the group that only count. */
function managed(priority: number, name: string, counted: string[]): CfnWebACL.RuleProperty {
  return {
    name,
    priority,
    overrideAction: { none: {} },
    visibilityConfig: visibility(name),
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      },
    },
  };
}
