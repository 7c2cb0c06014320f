import { Aws } from 'aws-cdk-lib/core';
import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
  type IVpc,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  CfnFirewallDomainList,
  CfnFirewallRuleGroup,
  CfnFirewallRuleGroupAssociation,
} from 'aws-cdk-lib/aws-route53resolver';
import { Construct } from 'constructs';
import type { ModelEndpointOptions } from '../../configuration.ts';
import { accept } from '../accepted-findings.ts';

/** What SageMaker needs to connect its instances to a network (Amazon SageMaker, "host-vpc"). */
const useOfNetwork = new PolicyStatement({
  actions: [
    'ec2:CreateNetworkInterface',
    'ec2:CreateNetworkInterfacePermission',
    'ec2:DeleteNetworkInterface',
    'ec2:DeleteNetworkInterfacePermission',
    'ec2:DescribeDhcpOptions',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSecurityGroups',
    'ec2:DescribeSubnets',
    'ec2:DescribeVpcEndpoints',
    'ec2:DescribeVpcs',
  ],
  resources: ['*'],
});

/** What a model is told of the network that it runs in. */
export interface NetworkOfModel {
  readonly vpcConfig: { readonly subnets: string[]; readonly securityGroupIds: string[] };
  readonly roleName: string;
}

/**
 * A network without a way to the internet. Containers in it reach S3 only, and there only the buckets of this account and
 * the weights. SageMaker pulls the image and writes the logs from its own network. It costs nothing by the hour.
 */
export class ModelNetwork extends Construct implements NetworkOfModel {
  readonly vpcConfig: NetworkOfModel['vpcConfig'];
  /**
   * Of the role of the models in it. When an endpoint is gone, SageMaker still deletes its network interfaces with the role, so
   * the role is here and not beside the endpoint (Amazon SageMaker, "DeleteEndpoint").
   */
  readonly roleName: string;

  constructor(scope: Construct, id: string, { modelData, zones }: ModelEndpointOptions) {
    super(scope, id);
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.0.0.0/22'),
      ...(zones === null ? { maxAzs: 2 } : { availabilityZones: zones.toSorted() }),
      natGateways: 0,
      createInternetGateway: false,
      subnetConfiguration: [{ name: 'model', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 }],
      // Nothing uses the default group. To empty it would take a function of its own.
      restrictDefaultSecurityGroup: false,
    });
    accept(vpc, {
      'AwsSolutions-VPC7': 'Nothing in it can reach more than S3, whose requests can be logged there.',
    });
    this.addS3(vpc, modelData);
    this.refuseNames(vpc);
    const securityGroup = new SecurityGroup(this, 'Group', {
      vpc: vpc as IVpc,
      description: 'Model containers: HTTPS to S3, nothing else',
      allowAllOutbound: false,
    });
    // The only route leads to S3. The list of its addresses is another one in each region.
    securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'S3, by the gateway endpoint');
    this.vpcConfig = {
      subnets: vpc.isolatedSubnets.map(({ subnetId }) => subnetId),
      securityGroupIds: [securityGroup.securityGroupId],
    };
    const role = addModelRole(this);
    role.addToPolicy(useOfNetwork);
    this.roleName = role.roleName;
    accept(role, {
      'AwsSolutions-IAM5[Resource::*]':
        'The actions on network interfaces that SageMaker asks for have no ARNs beforehand.',
    });
  }

  /** Presigned links of other accounts are refused too: no image can be sent to a stranger's bucket. */
  private addS3(vpc: Vpc, modelData: string): void {
    const endpoint = vpc.addGatewayEndpoint('S3', { service: GatewayVpcEndpointAwsService.S3 });
    const allow = (actions: string[], resources: string[], conditions = {}) =>
      endpoint.addToPolicy(
        new PolicyStatement({
          effect: Effect.ALLOW,
          principals: [new AnyPrincipal()],
          actions,
          resources,
          conditions,
        }),
      );
    // Buckets are listed and found here as well: a model that is being replaced still reads its own weights.
    const ofBuckets = ['s3:ListBucket', 's3:GetBucketLocation'];
    allow(['s3:GetObject', 's3:PutObject', ...ofBuckets], ['*'], {
      StringEquals: { 'aws:ResourceAccount': Aws.ACCOUNT_ID },
    });
    // The bucket of the weights may belong to another account.
    const { bucketArn, prefix } = s3Place(modelData);
    allow(['s3:GetObject'], [`${bucketArn}/${prefix}*`]);
    allow(ofBuckets, [bucketArn]);
  }

  /** A name that is looked up leaves the network, too, so only AWS's own names are. */
  private refuseNames(vpc: Vpc): void {
    const list = (id: string, domains: string[]) => new CfnFirewallDomainList(this, id, { domains }).attrId;
    const rules = new CfnFirewallRuleGroup(this, 'NameRules', {
      firewallRules: [
        { priority: 1, action: 'ALLOW', firewallDomainListId: list('AwsNames', [`*.${Aws.URL_SUFFIX}`]) },
        {
          priority: 2,
          action: 'BLOCK',
          blockResponse: 'NXDOMAIN',
          firewallDomainListId: list('AllNames', ['*']),
        },
      ],
    });
    new CfnFirewallRuleGroupAssociation(this, 'Names', {
      firewallRuleGroupId: rules.attrId,
      vpcId: vpc.vpcId,
      priority: 101,
    });
  }
}

/** SageMaker runs the instances with it. */
export function addModelRole(scope: Construct): Role {
  return new Role(scope, 'Role', {
    description: 'SageMaker starts the model with it',
    assumedBy: new ServicePrincipal('sagemaker.amazonaws.com'),
  });
}

export function s3Place(uri: string) {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)\/(.*)$/.exec(uri)!;
  return { bucket, bucketArn: `arn:${Aws.PARTITION}:s3:::${bucket}`, prefix };
}
