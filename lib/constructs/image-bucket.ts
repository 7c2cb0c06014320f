import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  HttpMethods,
  ObjectOwnership,
  type CfnBucket,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import type { Grants } from '../../shared/routes/grants.ts';
import { bucketCors } from '../../shared/routes/api.ts';
import type { Configuration } from '../configuration.ts';
import { accept } from './accepted-findings.ts';
import { oldestBackupDays } from './backups.ts';
import { hour, serviceMetrics } from './monitoring/metrics.ts';
import type { AlarmRow, Costs, Watched } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

/** The images of all generations: `npm run costs` has the price of S3's request metrics of one prefix. */
const outputs = { id: 'outputs', prefix: 'generations/' };
const GB = 1e9;

/** The private bucket of images, uploads, references, adapters and samples, read through presigned URLs. It is kept when the stack is deleted. */
export class ImageBucket extends Construct implements Watched {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { retentionDays }: Pick<Configuration, 'retentionDays'>) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN,
      cors: [
        {
          allowedOrigins: ['*'],
          allowedMethods: bucketCors.methods.map((method) => HttpMethods[method]),
          allowedHeaders: ['*'],
          exposedHeaders: [bucketCors.responseHeader],
          maxAge: bucketCors.maxAgeSeconds,
        },
      ],
      metrics: [outputs],
      // Each names what it removes: adapters and samples stay until an operator replaces them.
      lifecycleRules: [
        { id: 'images', prefix: outputs.prefix, expiration: Duration.days(retentionDays) },
        // An upload is valid for an hour, but S3 counts in days.
        { id: 'uploads', prefix: 'uploads/', expiration: Duration.days(1) },
        // They are deleted when their request ends. These are left over where that failed.
        { id: 'references', prefix: 'references/', expiration: Duration.days(1) },
        // A model looks for it until the deadline of its request.
        { id: 'cancelled', prefix: 'cancelled/', expiration: Duration.days(1) },
        // What a restored copy of the table has to lose again. The week is for a copy that goes late, and for restoring it.
        { id: 'erased', prefix: 'erased/', expiration: Duration.days(oldestBackupDays + 7) },
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    accept(this.bucket, {
      'AwsSolutions-S1':
        'Access logs of S3 hold the whole query string, and with it signed links that still open. Reads and writes are seen in CloudTrail data events, where an account has them on.',
    });
  }

  /** A signed link may be opened any number of times, and each time its bytes are paid for. */
  get alarms(): AlarmRow[] {
    return [
      {
        id: 'image-downloads',
        capability: 'images',
        severity: 'warning',
        means: 'Very many bytes of images are downloaded by their links.',
        metric: new Metric({
          namespace: 'AWS/S3',
          metricName: 'BytesDownloaded',
          dimensionsMap: { BucketName: this.bucket.bucketName, FilterId: outputs.id },
          statistic: Stats.SUM,
          period: hour,
        }),
        threshold: 20 * GB,
      },
    ];
  }

  get costs(): Costs {
    const bytes = serviceMetrics(this).of('imageBytes', { label: 'bytes', period: hour });
    return { 'Image bytes stored': [bytes] };
  }

  get origin(): string {
    return `https://${this.bucket.bucketRegionalDomainName}`;
  }

  /** A presigned URL can do no more than the role that signed it, so these grants also limit the URLs. */
  grant(fn: ServiceFunction, { readObjects = [], writeObjects = [], deleteObjects = [] }: Grants): void {
    if (readObjects.length + writeObjects.length + deleteObjects.length === 0) return;
    fn.setVariable(environmentVariables.bucketName, this.bucket.bucketName);
    const allow = (action: string, prefixes: readonly string[]) => {
      if (prefixes.length === 0) return;
      const resources = prefixes.map((prefix) => this.bucket.arnForObjects(prefix));
      fn.addToRolePolicy(new PolicyStatement({ actions: [action], resources }));
      for (const prefix of prefixes) this.acceptPrefix(fn, prefix);
    };
    allow('s3:GetObject', readObjects);
    allow('s3:PutObject', writeObjects);
    allow('s3:DeleteObject', deleteObjects);
  }

  private acceptPrefix(fn: ServiceFunction, prefix: string): void {
    const bucketId = Stack.of(this).getLogicalId(this.bucket.node.defaultChild as CfnBucket);
    accept(fn.role!, {
      [`AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/${prefix}]`]:
        'Images lie below the license and the request that they belong to, which are not known before a request comes. The prefix is the least that the route needs.',
    });
  }
}
