import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AccessLevel,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
  type BehaviorOptions,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  ObjectOwnership,
  type CfnBucket,
  type IBucket,
} from 'aws-cdk-lib/aws-s3';
import {
  BucketDeployment,
  CacheControl,
  Source,
  type BucketDeploymentProps,
} from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import type { DashboardConfig, DashboardSources } from '../../shared/accounts/dashboard-config.ts';
import { llmsText } from '../../shared/openapi/llms-text.ts';
import type { Domain } from '../configuration.ts';
import { dashboardHeaders } from '../dashboard-headers.ts';
import { accept } from './accepted-findings.ts';
import { graph, period, serviceMetrics } from './monitoring/metrics.ts';
import type { AlarmRow, Watched, Widgets } from './monitoring/watched.ts';

export interface DashboardSiteProps extends DashboardSources {
  /** The built dashboard. */
  readonly distFolder: string;
  /** Null for the name that CloudFront gives it. */
  readonly domain: Domain | null;
}

/**
 * The account web app: built files in a private bucket, served by CloudFront over HTTPS. A path without a file ending is
 * a screen of the app and gets `index.html`; a missing file is a 404.
 */
export class DashboardSite extends Construct implements Watched {
  readonly distribution: Distribution;
  /** `https://NAME` */
  readonly origin: string;
  private readonly bucket: IBucket;
  private readonly distFolder: string;

  /** @throws Error when the dashboard is not built. */
  constructor(scope: Construct, id: string, { distFolder, domain, ...sources }: DashboardSiteProps) {
    super(scope, id);
    if (!existsSync(join(distFolder, 'index.html'))) {
      throw new Error(`There is no dashboard in ${distFolder}: run "npm run build", which makes it.`);
    }
    this.distFolder = distFolder;
    this.bucket = this.addBucket();
    this.distribution = this.addDistribution(sources, domain);
    this.origin = `https://${domain?.dashboardName ?? this.distribution.distributionDomainName}`;
    if (domain?.hostedZone) this.addRecords(domain.dashboardName, domain.hostedZone);
  }

  /**
   * Uploads the built files, and `/config.json` and `/llms.txt`, which hold the addresses of this deployment. It removes nothing from
   * the bucket, because a page that is open during a deployment still loads its old assets. It needs no invalidation,
   * because CloudFront asks the bucket again for every file with `no-cache`.
   */
  deploy(config: DashboardConfig): void {
    const log = new LogGroup(this, 'UploadLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const upload = (id: string, props: Omit<BucketDeploymentProps, 'destinationBucket'>) =>
      new BucketDeployment(this, id, {
        destinationBucket: this.bucket,
        prune: false,
        logGroup: log,
        ...props,
      });
    const assets = upload('Assets', {
      sources: [Source.asset(join(this.distFolder, 'assets'))],
      destinationKeyPrefix: 'assets',
      // Their names contain a hash of their content.
      cacheControl: [CacheControl.fromString('public, max-age=31536000, immutable')],
    });
    const configuration = upload('Config', {
      sources: [
        Source.jsonData('config.json', config),
        Source.data('llms.txt', llmsText({ apiBaseUrl: config.apiBaseUrl, siteUrl: this.origin })),
      ],
      cacheControl: [CacheControl.noStore()],
    });
    const packages = upload('Packages', {
      sources: [Source.asset(join(this.distFolder, 'packages'))],
      destinationKeyPrefix: 'packages',
      // As the local runtime has it: the tool that uploads knows no type for a wheel, and a wrong one for a tarball.
      contentType: 'application/octet-stream',
      cacheControl: [CacheControl.noCache()],
    });
    const pages = upload('Pages', {
      sources: [Source.asset(this.distFolder, { exclude: ['assets', 'packages', 'build-id'] })],
      cacheControl: [CacheControl.noCache()],
    });
    // They share one function, which has the layer of the first; each brings its own.
    for (const other of [configuration, packages, pages]) other.node.tryRemoveChild('AwsCliLayer');
    // A new page must find its assets, its configuration and the packages that it names.
    pages.node.addDependency(assets, configuration, packages);
    acceptUploads(pages, this.bucket);
  }

  /** CloudFront's own metrics are in another region, where no alarm of this one sees them: see decision 0052. */
  get alarms(): AlarmRow[] {
    return [
      {
        id: 'dashboard-down',
        capability: 'dashboard',
        severity: 'critical',
        means: 'For ten minutes the dashboard has answered with errors, or not at all.',
        metric: serviceMetrics(this).of('dashboardFaults', { period }),
        threshold: 3,
        periods: 2,
        // In a new stack the sweep is there before the files are.
        after: [this],
      },
    ];
  }

  get widgets(): Widgets {
    const options = {
      dimensionsMap: { DistributionId: this.distribution.distributionId, Region: 'Global' },
      // CloudFront reports to one region, wherever the stack is.
      region: 'us-east-1',
      period,
    };
    const requests = this.distribution.metricRequests({ ...options, label: 'requests' });
    const faults = serviceMetrics(this).of('dashboardFaults', { label: 'faults', period });
    const errors = this.distribution.metric5xxErrorRate({ ...options, label: '5xx' });
    return {
      storage: [
        graph('Dashboard: requests, faults that the sweep saw, percent of 5xx', [requests, faults], {
          right: [errors],
          rightYAxis: { label: '%', showUnits: false, min: 0 },
        }),
      ],
    };
  }

  private addBucket(): IBucket {
    const bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.DESTROY,
      autoDeleteObjects: true,
    });
    accept(bucket, {
      'AwsSolutions-S1':
        'It holds the built files of a web app that anybody may read through CloudFront, and no data.',
    });
    // `exactOptionalPropertyTypes` of this project does not fit the CDK's types.
    return bucket as IBucket;
  }

  private addDistribution(sources: DashboardSources, domain: Domain | null): Distribution {
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Image Generation Service: dashboard',
      defaultRootObject: 'index.html',
      defaultBehavior: this.behavior(sources),
      httpVersion: HttpVersion.HTTP2_AND_3,
      enableIpv6: true,
      ...(domain && {
        domainNames: [domain.dashboardName],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.dashboardCertificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
    });
    accept(distribution, {
      'Annotation::@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk':
        'The root is the app, so that no request is answered with a list; and all that is listed is public.',
      'AwsSolutions-CFR1': 'Customers may be anywhere; what they may do is decided by the API.',
      'AwsSolutions-CFR2':
        'It serves public files from a bucket and runs nothing. The API, which does, has a firewall of its own.',
      'AwsSolutions-CFR3':
        "Access logs hold the query string, and with it the one-time codes that sign-ins come back with. The API's own logs tell who did what.",
      ...(domain === null && {
        'AwsSolutions-CFR4':
          "CloudFront's own name comes with CloudFront's own certificate, whose oldest protocol can't be set. With a domain TLS 1.2 is the oldest.",
      }),
    });
    return distribution;
  }

  private behavior(sources: DashboardSources): BehaviorOptions {
    const { stackName, region } = Stack.of(this);
    // CloudFront's names are unique in an account, so a stack of the same name in another region needs other ones.
    const name = `${stackName}-${region}`;
    return {
      origin: S3BucketOrigin.withOriginAccessControl(this.bucket, {
        originAccessControl: new S3OriginAccessControl(this, 'Access', { originAccessControlName: name }),
        // Without the right to list, a missing file would be a 403 instead of a 404.
        originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      }),
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      compress: true,
      responseHeadersPolicy: new ResponseHeadersPolicy(this, 'Headers', {
        responseHeadersPolicyName: name,
        ...dashboardHeaders(sources),
      }),
      functionAssociations: [{ eventType: FunctionEventType.VIEWER_REQUEST, function: this.screens() }],
    };
  }

  private screens(): EdgeFunction {
    return new EdgeFunction(this, 'Screens', {
      comment: 'Answers every path that names no file with the app.',
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(screenRewrite),
    });
  }

  private addRecords(name: string, { id, name: zoneName }: { id: string; name: string }): void {
    const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId: id, zoneName });
    const target = RecordTarget.fromAlias(new CloudFrontTarget(this.distribution));
    // Without the dot at its end the CDK may append the zone's name.
    const props = { zone, target, recordName: `${name}.` };
    new ARecord(this, 'Ipv4Record', props);
    new AaaaRecord(this, 'Ipv6Record', props);
  }
}

/** CloudFront runs it without modules and calls the function named `handler`. */
const screenRewrite = `function handler(event) {
  const request = event.request;
  const name = request.uri.slice(request.uri.lastIndexOf('/') + 1);
  if (!name.includes('.')) request.uri = '/index.html';
  return request;
}
`;

/** Accepts the findings about the CDK's own upload function, which all uploads of a stack share. */
function acceptUploads({ handlerRole }: BucketDeployment, bucket: IBucket): void {
  const stack = Stack.of(bucket);
  const { bootstrapQualifier } = stack.synthesizer;
  const bucketId = stack.getLogicalId(bucket.node.defaultChild as CfnBucket);
  const reasons = {
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
      'The policy lets it write its own log, and the CDK attaches it.',
    [`IAM5[Resource::arn:<AWS::Partition>:s3:::cdk-${bootstrapQualifier}-assets-<AWS::AccountId>-<AWS::Region>/*]`]:
      'It reads the build from where the CDK puts what it deploys; the names there are hashes.',
    [`IAM5[Resource::<${bucketId}.Arn>/*]`]: 'It writes every file of this bucket, which holds nothing else.',
  };
  const wildcards = ['GetObject', 'GetBucket', 'List', 'DeleteObject', 'Abort'].map((action) => [
    `IAM5[Action::s3:${action}*]`,
    'The CDK grants actions by these patterns, on the two buckets that it copies from and to.',
  ]);
  const findings = [...Object.entries(reasons), ...wildcards].map(([id, reason]) => [
    `AwsSolutions-${id}`,
    reason,
  ]);
  accept(handlerRole, Object.fromEntries(findings));
  accept(handlerRole.node.scope!, {
    'AwsSolutions-L1':
      "The function is the CDK's own: its runtime comes with the CDK's version, and it runs in deployments only.",
  });
}
