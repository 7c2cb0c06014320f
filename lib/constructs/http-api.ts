import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib/core';
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  MockIntegration,
  PassthroughBehavior,
  ResponseTransferMode,
  RestApi,
  SecurityPolicy,
  type IResource,
  type MethodDeploymentOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type ILogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ARecord, AaaaRecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGateway } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { errorCodes } from '../../shared/base/errors.ts';
import { methodFailure } from '../../shared/routes/gateway-failures.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route, Throttle } from '../../shared/routes/route.ts';
import { basePath, cors, minCompressionBytes } from '../../shared/routes/api.ts';
import type { Configuration, Domain } from '../configuration.ts';
import { accept } from './accepted-findings.ts';
import { addGatewayAnswers, gatewayHeaders } from './gateway-answers.ts';
import type { ServiceFunction } from './service-function.ts';

export interface HttpApiProps {
  readonly stageName: string;
  readonly throttle: Configuration['throttle'];
  readonly domain: Domain | null;
  readonly logRetention: RetentionDays;
}

/** What API Gateway allows an account in most regions. */
const accountThrottle: Throttle = { ratePerSecond: 10_000, burst: 5000 };

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
export class HttpApi extends Construct {
  readonly api: RestApi;
  readonly accessLog: LogGroup;
  /** Without a slash at the end. */
  readonly origin: string;
  /** The paths of the routes are appended to it. */
  readonly baseUrl: string;
  private readonly withPreflight = new Set<IResource>();

  constructor(scope: Construct, id: string, props: HttpApiProps) {
    super(scope, id);
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
      // Streams stay as they are: AWS's guide to response streaming has content encoding among what they can't have.
      minCompressionSize: Size.bytes(minCompressionBytes),
      deployOptions: {
        stageName: props.stageName,
        tracingEnabled: true,
        accessLogDestination: new LogGroupLogDestination(this.accessLog as ILogGroup),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
        ...settings(props.throttle),
        methodOptions: Object.fromEntries(
          allRoutes.flatMap(({ method, path, throttle }) =>
            throttle
              ? [
                  [
                    `${basePath}${path}/${method}`,
                    settings(throttle === 'account' ? accountThrottle : throttle),
                  ],
                ]
              : [],
          ),
        ),
      },
    });
    this.addExecutionLog(props);
    // The stack has an output of its own for this.
    this.api.node.tryRemoveChild('Endpoint');
    addGatewayAnswers(this.api);
    this.origin = props.domain === null ? originOf(this.api) : this.addDomain(props.domain);
    this.baseUrl =
      props.domain === null ? `${this.origin}/${props.stageName}${basePath}` : `${this.origin}${basePath}`;
    this.acceptFindings();
  }

  /** @param timeout of the integration. API Gateway allows more than 29 seconds for streamed routes only. */
  mount(route: Route, fn: ServiceFunction, timeout: Duration, origins: readonly string[]): void {
    const resource = this.api.root.resourceForPath(`${basePath}${route.path}`);
    resource.addMethod(
      route.method,
      new LambdaIntegration(fn.live as IFunction, {
        timeout,
        allowTestInvoke: false,
        responseTransferMode: route.streams ? ResponseTransferMode.STREAM : ResponseTransferMode.BUFFERED,
      }),
    );
    if (route.refusesOthers) refuseOthers(resource, route.method);
    if (!this.withPreflight.has(resource)) this.addPreflight(resource, route.path, origins);
  }

  /** API Gateway chooses the name, which no other API ever has. If the group were not there, it would make it and keep its lines forever. */
  private addExecutionLog({ stageName, logRetention }: HttpApiProps): void {
    const log = new LogGroup(this, 'ExecutionLog', {
      logGroupName: `API-Gateway-Execution-Logs_${this.api.restApiId}/${stageName}`,
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

  private addPreflight(resource: IResource, path: string, origins: readonly string[]): void {
    this.withPreflight.add(resource);
    const methods = allRoutes.filter((route) => route.path === path).map(({ method }) => method);
    const headers = {
      'Access-Control-Allow-Headers': `'${cors.requestHeaders.join(',')}'`,
      'Access-Control-Allow-Methods': `'${methods.join(',')}'`,
      'Access-Control-Allow-Origin': `'${origins[0]}'`,
      'Access-Control-Max-Age': `'${cors.maxAgeSeconds}'`,
      Vary: "'Origin'",
    };
    answerItself(resource, 'OPTIONS', 204, headers, namingOrigin(origins));
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
      new ARecord(this, 'Record', { zone, recordName: `${apiName}.`, target });
      new AaaaRecord(this, 'RecordV6', { zone, recordName: `${apiName}.`, target });
    }
    return `https://${domainName.domainName}`;
  }
}

/** Has every method that is not mounted answered 405 without a function: by API Gateway itself, in the shape of its other answers. */
function refuseOthers(resource: IResource, allowed: string): void {
  const headers = {
    Allow: `'${allowed}'`,
    'Cache-Control': "'no-store'",
    'Access-Control-Allow-Origin': "'*'",
  };
  const { error, code } = methodFailure;
  answerItself(resource, 'ANY', errorCodes[code].status, headers, JSON.stringify({ error, code }));
}

/**
 * Has API Gateway answer a method itself, without a function.
 * @param headers beside those of every answer, as API Gateway maps them
 */
function answerItself(
  resource: IResource,
  method: string,
  status: number,
  headers: Record<string, string>,
  template: string,
): void {
  const parameters = <Value>(valueOf: (value: string) => Value) =>
    Object.fromEntries(
      Object.entries({ ...headers, ...gatewayHeaders(status) }).map(([name, value]) => [
        `method.response.header.${name}`,
        valueOf(value),
      ]),
    );
  const integration = new MockIntegration({
    requestTemplates: { 'application/json': JSON.stringify({ statusCode: status }) },
    passthroughBehavior: PassthroughBehavior.WHEN_NO_TEMPLATES,
    integrationResponses: [
      {
        statusCode: String(status),
        responseParameters: parameters((value) => value),
        responseTemplates: { 'application/json': template },
      },
    ],
  });
  resource.addMethod(method, integration, {
    methodResponses: [{ statusCode: String(status), responseParameters: parameters(() => true) }],
  });
}

/** A template that writes nothing, and names the origin that asked if it is one of these. */
function namingOrigin(origins: readonly string[]): string {
  return [
    '#set($origin = $input.params().header.get("Origin"))',
    // HTTP/2 writes names in lower case.
    '#if($origin == "")#set($origin = $input.params().header.get("origin"))#end',
    `#if(${origins.map((origin) => `$origin == "${origin}"`).join(' || ')})`,
    '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
  ].join('\n');
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
