import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib/core';
import {
  AccessLogFormat,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
  type MethodDeploymentOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Metric, Stats, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { LogGroup, type ILogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ARecord, AaaaRecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGateway } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { routes } from '../../shared/routes/routes.ts';
import type { Route, Throttle } from '../../shared/routes/route.ts';
import { basePath, binaryMediaTypes, minCompressionBytes } from '../../shared/routes/api.ts';
import type { Configuration, Domain } from '../configuration.ts';
import { accountThrottle } from '../throttle.ts';
import { accept } from './accepted-findings.ts';
import { addGatewayAnswers, answerPreflight, refuseOthers } from './gateway-answers.ts';
import { Integrations } from './integrations.ts';
import {
  axisOf,
  combined,
  graph,
  hour,
  inParts,
  period,
  serviceMetrics,
  share,
  window,
} from './monitoring/metrics.ts';
import type { AlarmRow, Costs, Watched, Widgets } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface HttpApiProps extends Pick<Configuration, 'stage' | 'domain'> {
  /** Of the whole API. */
  readonly throttle: Throttle;
  readonly logRetention: RetentionDays;
}

interface MountedRoute extends Route {
  readonly fn: ServiceFunction;
}

const allRoutes: Route[] = Object.values(routes);

/**
 * The access log's fields for each request. The path is logged as its pattern, because a caller may put a key into the
 * path by mistake. Headers and bodies are not logged.
 */
const accessLogFields = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  gatewayError: '$context.error.responseType',
  firewall: '$context.waf.status',
  durationMs: '$context.responseLatency',
  functionMs: '$context.integration.latency',
  functionStatus: '$context.integration.status',
  bytes: '$context.responseLength',
};

/** API Gateway in front of the functions, made from the table of routes. */
export class HttpApi extends Construct implements Watched {
  readonly api: RestApi;
  readonly accessLog: LogGroup;
  /** Without a slash at the end. */
  readonly origin: string;
  /** The paths of the routes are appended to it. */
  readonly baseUrl: string;
  private readonly props: HttpApiProps;
  private readonly mounted: MountedRoute[] = [];
  private readonly integrations: Integrations;

  constructor(scope: Construct, id: string, props: HttpApiProps) {
    super(scope, id);
    this.props = props;
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    this.api = new RestApi(this, 'Api', {
      // The API's metrics have this name in CloudWatch.
      restApiName: Stack.of(this).stackName,
      description: 'Image Generation Service',
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: props.domain !== null,
      cloudWatchRole: true,
      // What a function streams needs none, but a body that comes to it does (AWS's guide, "Binary media types for REST APIs").
      binaryMediaTypes: [...binaryMediaTypes],
      // Streams stay as they are: AWS's guide to response streaming has content encoding among what they can't have.
      minCompressionSize: Size.bytes(minCompressionBytes),
      deployOptions: {
        stageName: props.stage,
        tracingEnabled: true,
        accessLogDestination: new LogGroupLogDestination(this.accessLog as ILogGroup),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
        ...settings(props.throttle),
        methodOptions: Object.fromEntries(
          allRoutes.flatMap(({ method, path, throttle }) => {
            if (!throttle) return [];
            const own = throttle === 'account' ? accountThrottle : throttle;
            return [[`${basePath}${path}/${method}`, settings(own)]];
          }),
        ),
      },
    });
    this.integrations = new Integrations(this);
    this.addExecutionLog(props);
    // The stack has an output of its own for this.
    this.api.node.tryRemoveChild('Endpoint');
    addGatewayAnswers(this.api);
    this.origin = props.domain === null ? originOf(this.api) : this.addDomain(props.domain);
    this.baseUrl =
      props.domain === null ? `${this.origin}/${props.stage}${basePath}` : `${this.origin}${basePath}`;
    this.acceptFindings();
  }

  /** @param timeout of the integration. API Gateway allows more than 29 seconds for streamed routes only. */
  mount(route: Route, fn: ServiceFunction, timeout: Duration, origins: readonly string[]): void {
    const resource = this.api.root.resourceForPath(`${basePath}${route.path}`);
    resource.addMethod(route.method, this.integrations.of(route, fn, timeout));
    if (route.refusesOthers) refuseOthers(resource, route.method);
    if (!this.mounted.some(({ path }) => path === route.path)) {
      const methods = allRoutes.filter(({ path }) => path === route.path).map(({ method }) => method);
      answerPreflight(resource, methods, origins);
    }
    this.mounted.push({ ...route, fn });
  }

  /** The functions of the routes that wait for the model, or those of the others. */
  functionsOf({ streams }: Pick<Route, 'streams'>): ServiceFunction[] {
    return this.mounted.filter((route) => route.streams === streams).map(({ fn }) => fn);
  }

  /** All requests, as API Gateway counts them. */
  requests(options: MetricOptions): Metric {
    return this.metric('Count', Stats.SAMPLE_COUNT, options);
  }

  get alarms(): AlarmRow[] {
    const { throttle } = this.props;
    const inWindow = { period: window };
    const failed = this.metric('5XXError', Stats.SUM, inWindow);
    const except = serviceMetrics(this).of('refusedWith5xx', inWindow);
    // Lambda measures durations at no charge; API Gateway's metrics of each method cost money.
    const times = this.functionsOf({ streams: false }).map((fn) =>
      fn.metricDuration({ statistic: Stats.percentile(99), period }),
    );
    return [
      {
        id: 'api-server-errors',
        capability: 'api',
        severity: 'critical',
        means: 'The API answers with 5xx that are faults of the service.',
        metric: share({ failed }, this.requests(inWindow), { atLeast: 5, except, ...inWindow }),
        threshold: 5,
      },
      {
        id: 'api-near-throttle',
        capability: 'api',
        severity: 'warning',
        means: `The API takes 80% of the ${throttle.ratePerSecond} requests a second that it is limited to.`,
        metric: this.requests({ period: Duration.minutes(1) }),
        threshold: 0.8 * throttle.ratePerSecond * 60,
        periods: 3,
      },
      ...inParts('api-latency', times).map(({ id, metrics }): AlarmRow => ({
        id,
        runbook: 'api-latency',
        capability: 'api',
        severity: 'warning',
        means: 'A route that does not wait for the model takes 3 seconds.',
        metric: combined('MAX', metrics, period),
        threshold: 3000,
        periods: 3,
      })),
    ];
  }

  get widgets(): Widgets {
    const labelled = this.mounted.map((route) => ({ ...route, label: `${route.method} ${route.path}` }));
    const byRoute = labelled.map(({ fn, label }) => fn.metricInvocations({ label, period }));
    const times = labelled
      .filter(({ streams }) => !streams)
      .map(({ fn, label }) => fn.metricDuration({ label, statistic: Stats.percentile(99), period }));
    return {
      requests: [
        graph('Requests by route', byRoute, { stacked: true, width: 12 }),
        graph('API: all, refused, failed', [
          this.requests({ label: 'all', period }),
          this.metric('4XXError', Stats.SUM, { label: '4xx', period }),
          this.metric('5XXError', Stats.SUM, { label: '5xx', period }),
          serviceMetrics(this).of('refusedWith5xx', { label: '5xx without a fault', period }),
        ]),
        graph('API: time to answer, p99, routes without the model', times, axisOf('ms')),
      ],
    };
  }

  get costs(): Costs {
    const requests = this.requests({ label: 'API requests', period: hour });
    return { 'API requests, table units': [requests] };
  }

  /** A metric by the names of API and stage: an alarm need not wait for them. */
  private metric(metricName: string, statistic: string, options: MetricOptions): Metric {
    const dimensionsMap = { ApiName: Stack.of(this).stackName, Stage: this.props.stage };
    return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap, statistic, ...options });
  }

  /** API Gateway chooses the name, which no other API ever has. If the group were not there, it would make it and keep its lines forever. */
  private addExecutionLog({ stage, logRetention }: HttpApiProps): void {
    const log = new LogGroup(this, 'ExecutionLog', {
      logGroupName: `API-Gateway-Execution-Logs_${this.api.restApiId}/${stage}`,
      retention: logRetention,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    this.api.deploymentStage.node.addDependency(log);
  }

  private acceptFindings(): void {
    accept(this.api, {
      'AwsSolutions-APIG2':
        'Functions validate every request themselves, so that each refusal names what is wrong in the shape that the API promises.',
      'AwsSolutions-APIG4':
        'API keys and sessions are checked by each function against the table of routes: revocation must hold from the next request on, which an authorizer that caches can not promise.',
      'AwsSolutions-COG4':
        'Sessions are Cognito access tokens, verified by the function, because several routes take a session or an API key.',
    });
    accept(this.api.node.findChild('CloudWatchRole'), {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'The policy that AWS made for exactly this: API Gateway writes its logs with it, and nothing else can assume the role.',
    });
  }

  private addDomain({ apiName, apiCertificateArn, hostedZone }: Domain): string {
    const domainName = this.api.addDomainName('Domain', {
      domainName: apiName,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', apiCertificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    if (hostedZone !== null) {
      const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', {
        hostedZoneId: hostedZone.id,
        zoneName: hostedZone.name,
      });
      const target = RecordTarget.fromAlias(new ApiGateway(this.api));
      const record = { zone, recordName: `${apiName}.`, target };
      new ARecord(this, 'Record', record);
      new AaaaRecord(this, 'RecordV6', record);
    }
    return `https://${domainName.domainName}`;
  }
}

/** A method with its own settings needs all of them: API Gateway does not fall back to the stage's settings. */
function settings({ ratePerSecond, burst }: Throttle): MethodDeploymentOptions {
  return {
    throttlingRateLimit: ratePerSecond,
    throttlingBurstLimit: burst,
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
    // Metrics for each method cost extra. The functions' own metrics show the same.
    metricsEnabled: false,
  };
}

function originOf(api: RestApi): string {
  return `https://${api.restApiId}.execute-api.${api.env.region}.${api.stack.urlSuffix}`;
}
