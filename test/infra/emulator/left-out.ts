/** Of a resource whose type moto's CloudFormation does not know: an operation of AWS that makes it, as far as one does. */
export interface ByHand {
  service: string;
  operation: string;
  /** From the resource's properties, resolved. */
  parameters: (properties: any, logicalId: string) => object;
  /** What others may ask of it, from the operation's answer: `Ref` or an attribute. */
  names?: (answer: any, properties: any) => Record<string, string>;
}

const asTheyAre = (properties: object) => properties;
const without = (properties: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
const named = (name: string) => (properties: object, logicalId: string) => ({
  [name]: logicalId,
  ...properties,
});

/**
 * The types that moto's CloudFormation does not know and whose service it does, in the order in which they need each
 * other: made by hand beside the stack, from the stack's own properties. CloudFormation's members are those of the
 * service's API but for what is written here.
 */
export const madeByHand: Record<string, ByHand> = {
  'AWS::Cognito::UserPool': {
    service: 'cognito-idp',
    operation: 'create_user_pool',
    // CloudFormation sets the second factors by an operation of their own.
    parameters: (properties, logicalId) => ({ PoolName: logicalId, ...without(properties, 'EnabledMfas') }),
    names: ({ UserPool: { Id, Arn } }) => ({ Ref: Id, Arn }),
  },
  'AWS::Cognito::UserPoolDomain': {
    service: 'cognito-idp',
    operation: 'create_user_pool_domain',
    parameters: asTheyAre,
    names: (_, { Domain }) => ({ Ref: Domain }),
  },
  'AWS::Cognito::UserPoolClient': {
    service: 'cognito-idp',
    operation: 'create_user_pool_client',
    parameters: named('ClientName'),
    names: ({ UserPoolClient: { ClientId } }) => ({ Ref: ClientId }),
  },
  'AWS::Backup::BackupVault': {
    service: 'backup',
    operation: 'create_backup_vault',
    parameters: asTheyAre,
    names: ({ BackupVaultName }) => ({ BackupVaultName }),
  },
  'AWS::Backup::BackupPlan': {
    service: 'backup',
    operation: 'create_backup_plan',
    parameters: ({ BackupPlan: { BackupPlanRule: rules, ...plan } }) => ({
      BackupPlan: {
        ...plan,
        Rules: rules.map(({ TargetBackupVault: TargetBackupVaultName, ...rule }: any) => ({
          TargetBackupVaultName,
          ...rule,
        })),
      },
    }),
    names: ({ BackupPlanId }) => ({ BackupPlanId }),
  },
  'AWS::Scheduler::ScheduleGroup': {
    service: 'scheduler',
    operation: 'create_schedule_group',
    parameters: asTheyAre,
  },
  'AWS::Scheduler::Schedule': {
    service: 'scheduler',
    operation: 'create_schedule',
    parameters: named('Name'),
  },
  'AWS::CloudWatch::Alarm': {
    service: 'cloudwatch',
    operation: 'put_metric_alarm',
    parameters: named('AlarmName'),
  },
  'AWS::SNS::TopicPolicy': {
    service: 'sns',
    operation: 'set_topic_attributes',
    parameters: ({ Topics: [TopicArn], PolicyDocument }) => ({
      TopicArn,
      AttributeName: 'Policy',
      AttributeValue: JSON.stringify(PolicyDocument),
    }),
  },
  'AWS::SNS::Subscription': {
    service: 'sns',
    operation: 'subscribe',
    parameters: asTheyAre,
  },
  'AWS::ApplicationAutoScaling::ScalableTarget': {
    service: 'application-autoscaling',
    operation: 'register_scalable_target',
    parameters: asTheyAre,
    names: (_, { ResourceId, ScalableDimension, ServiceNamespace }) => ({
      Ref: `${ResourceId}|${ScalableDimension}|${ServiceNamespace}`,
    }),
  },
  'AWS::ApplicationAutoScaling::ScalingPolicy': {
    service: 'application-autoscaling',
    operation: 'put_scaling_policy',
    parameters: ({ ScalingTargetId, ...properties }) => {
      const [ResourceId, ScalableDimension, ServiceNamespace] = ScalingTargetId.split('|');
      return { ResourceId, ScalableDimension, ServiceNamespace, ...properties };
    },
  },
  'AWS::ApiGateway::GatewayResponse': {
    service: 'apigateway',
    operation: 'put_gateway_response',
    parameters: camelCase,
  },
  'AWS::ApiGateway::Account': {
    service: 'apigateway',
    operation: 'update_account',
    parameters: ({ CloudWatchRoleArn: value }) => ({
      patchOperations: [{ op: 'replace', path: '/cloudwatchRoleArn', value }],
    }),
  },
  'AWS::ApiGateway::Stage': {
    service: 'apigateway',
    operation: 'create_stage',
    // Logs, metrics and throttling are patched into a stage that is there.
    parameters: (properties) => camelCase(without(properties, 'AccessLogSetting', 'MethodSettings')),
    names: (_, { StageName }) => ({ Ref: StageName }),
  },
  'AWS::ApiGateway::DomainName': {
    service: 'apigateway',
    operation: 'create_domain_name',
    parameters: camelCase,
    names: (_, { DomainName }) => ({ Ref: DomainName }),
  },
  'AWS::ApiGateway::BasePathMapping': {
    service: 'apigateway',
    operation: 'create_base_path_mapping',
    parameters: camelCase,
  },
  'AWS::Lambda::EventInvokeConfig': {
    service: 'lambda',
    operation: 'put_function_event_invoke_config',
    parameters: asTheyAre,
  },
  'AWS::S3::BucketPolicy': {
    service: 's3',
    operation: 'put_bucket_policy',
    parameters: ({ Bucket, PolicyDocument }) => ({ Bucket, Policy: JSON.stringify(PolicyDocument) }),
  },
  'AWS::SQS::QueuePolicy': {
    service: 'sqs',
    operation: 'set_queue_attributes',
    parameters: ({ Queues: [QueueUrl], PolicyDocument }) => ({
      QueueUrl,
      Attributes: { Policy: JSON.stringify(PolicyDocument) },
    }),
  },
  'AWS::WAFv2::WebACL': {
    service: 'wafv2',
    operation: 'create_web_acl',
    parameters: named('Name'),
    names: ({ Summary: { ARN: Arn } }) => ({ Arn }),
  },
  'AWS::WAFv2::WebACLAssociation': {
    service: 'wafv2',
    operation: 'associate_web_acl',
    parameters: asTheyAre,
  },
  'AWS::WAFv2::LoggingConfiguration': {
    service: 'wafv2',
    operation: 'put_logging_configuration',
    parameters: (LoggingConfiguration) => ({ LoggingConfiguration }),
  },
};

/** The types that are not made at all, and why. */
export const notMade: Record<string, string> = {
  'AWS::Backup::BackupSelection': 'moto has no operation for it',
  'AWS::Cognito::ManagedLoginBranding': 'moto has no operation for it',
  'AWS::Logs::QueryDefinition': 'moto has no operation for it',
  'AWS::CloudFront::ResponseHeadersPolicy': 'moto has no operation for it',
  'AWS::CloudFront::Distribution': 'refers to the policy of headers that moto has no operation for',
  'AWS::CloudFront::Function': 'of no use without the distribution',
  'AWS::CloudFront::OriginAccessControl': 'of no use without the distribution',
};

export const isLeftOut = (type: string): boolean => type in madeByHand || type in notMade;

/** `RestApiId` → `restApiId`, inside too: the members of API Gateway's API. Keys of maps have no capital to lose. */
function camelCase(value: any): any {
  if (Array.isArray(value)) return value.map((item) => camelCase(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/^[A-Z]/, (letter) => letter.toLowerCase()),
      camelCase(member),
    ]),
  );
}

type Call = [service: string, operation: string, parameters: object];

/** Of the types that moto's CloudFormation makes without looking at all of their properties: what completes them. */
export const completedByHand: Record<string, (properties: any, physicalId: string) => Call[]> = {
  'AWS::DynamoDB::Table': (properties, TableName) => {
    const { TimeToLiveSpecification, PointInTimeRecoverySpecification } = properties;
    return [
      ['dynamodb', 'update_time_to_live', { TableName, TimeToLiveSpecification }],
      ['dynamodb', 'update_continuous_backups', { TableName, PointInTimeRecoverySpecification }],
    ];
  },
  'AWS::S3::Bucket': (properties, Bucket) => {
    const { OwnershipControls, PublicAccessBlockConfiguration, LifecycleConfiguration } = properties;
    const { CorsConfiguration } = properties;
    const calls: Call[] = [
      ['s3', 'put_bucket_ownership_controls', { Bucket, OwnershipControls }],
      ['s3', 'put_public_access_block', { Bucket, PublicAccessBlockConfiguration }],
    ];
    if (LifecycleConfiguration) {
      const Rules = LifecycleConfiguration.Rules.map(
        ({ Id: ID, Prefix = '', ExpirationInDays, ...rule }: any) => ({
          ID,
          Filter: { Prefix },
          ...(ExpirationInDays ? { Expiration: { Days: ExpirationInDays } } : {}),
          ...rule,
        }),
      );
      const parameters = { Bucket, LifecycleConfiguration: { Rules } };
      calls.push(['s3', 'put_bucket_lifecycle_configuration', parameters]);
    }
    if (CorsConfiguration) {
      const CORSRules = CorsConfiguration.CorsRules.map(
        ({ ExposedHeaders: ExposeHeaders, MaxAge: MaxAgeSeconds, ...rule }: any) => ({
          ExposeHeaders,
          MaxAgeSeconds,
          ...rule,
        }),
      );
      calls.push(['s3', 'put_bucket_cors', { Bucket, CORSConfiguration: { CORSRules } }]);
    }
    return calls;
  },
};
