import { expect, describe, test } from '@jest/globals';
import { modelTemplateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

const template = modelTemplateOf('everything');
const typesOf = (of: typeof template) => Object.values(of.Resources).map(({ Type }) => Type);

test('the model runs in a network of its own, in two availability zones', () => {
  const { VpcConfig: config } = propertiesOf(template, 'AWS::SageMaker::Model');
  const subnets = resourcesOf(template, 'AWS::EC2::Subnet');
  expect(config.Subnets.map(plain)).toEqual([...subnets.keys()].map((id) => `<${id}>`));
  const zones = [...subnets.values()].map(({ Properties }) => JSON.stringify(Properties.AvailabilityZone));
  expect(new Set(zones).size).toBe(2);
  expect(config.SecurityGroupIds.map(plain)).toEqual([
    `<${only(template, 'AWS::EC2::SecurityGroup').id}.GroupId>`,
  ]);
});

describe('from that network', () => {
  test('no route leads to the internet', () => {
    const ways = typesOf(template).filter((type) =>
      /Gateway|NAT|Route$|Peering|TransitGateway|EIP/.test(type),
    );
    expect(ways).toEqual([]);
    for (const { MapPublicIpOnLaunch } of allProperties(template, 'AWS::EC2::Subnet')) {
      expect(MapPublicIpOnLaunch).toBe(false);
    }
  });

  test('S3 is reached by every subnet: the objects of this account, and the weights', () => {
    const endpoint = propertiesOf(template, 'AWS::EC2::VPCEndpoint');
    expect(plain(endpoint.ServiceName)).toBe('com.amazonaws.<AWS::Region>.s3');
    expect(endpoint.VpcEndpointType).toBe('Gateway');
    const tables = [...resourcesOf(template, 'AWS::EC2::RouteTable').keys()].map((id) => `<${id}>`);
    expect(endpoint.RouteTableIds.map(plain).toSorted()).toEqual(tables.toSorted());
    const statements = endpoint.PolicyDocument.Statement.map(({ Action, Resource, Condition }: any) =>
      [plain(Action), plain(Resource), plain(Condition ?? '')].join(' | '),
    );
    expect(statements).toEqual([
      's3:GetObject, s3:PutObject | * | {StringEquals: {aws:ResourceAccount: <AWS::AccountId>}}',
      's3:GetObject | arn:<AWS::Partition>:s3:::models.example/models/sdxl/* | ',
      's3:ListBucket | arn:<AWS::Partition>:s3:::models.example | ',
    ]);
  });

  test('only names of AWS are looked up', () => {
    const { FirewallRules: rules } = propertiesOf(template, 'AWS::Route53Resolver::FirewallRuleGroup');
    const told = rules
      .toSorted((a: any, b: any) => a.Priority - b.Priority)
      .map(
        ({
          Action,
          FirewallDomainListId: {
            'Fn::GetAtt': [id],
          },
        }: any) => `${Action} ${plain(template.Resources[id]!.Properties.Domains)}`,
      );
    expect(told).toEqual(['ALLOW *.<AWS::URLSuffix>', 'BLOCK *']);
    const { VpcId } = propertiesOf(template, 'AWS::Route53Resolver::FirewallRuleGroupAssociation');
    expect(plain(VpcId)).toBe(`<${only(template, 'AWS::EC2::VPC').id}>`);
  });

  test('nobody is let in, and only HTTPS is let out', () => {
    const group = propertiesOf(template, 'AWS::EC2::SecurityGroup');
    expect(group.SecurityGroupIngress).toBeUndefined();
    expect(group.SecurityGroupEgress).toEqual([
      expect.objectContaining({ IpProtocol: 'tcp', FromPort: 443, ToPort: 443 }),
    ]);
  });
});

test('with internetAccess the model runs in the network of SageMaker, and the stack has none', () => {
  const open = modelTemplateOf('small');
  expect(propertiesOf(open, 'AWS::SageMaker::Model').VpcConfig).toBeUndefined();
  expect(typesOf(open).filter((type) => /EC2|Route53Resolver/.test(type))).toEqual([]);
  expect(JSON.stringify(open)).not.toContain('ec2:');
});
