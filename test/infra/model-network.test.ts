import { expect, describe, test } from '@jest/globals';
import { modelTemplateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

// What the way to S3 lets through is in template-summary.txt.
const template = modelTemplateOf('everything');
const typesOf = (of: typeof template) => Object.values(of.Resources).map(({ Type }) => Type);

test('the model runs in a network of its own, in two availability zones', () => {
  const { VpcConfig: config } = propertiesOf(template, 'AWS::SageMaker::Model');
  const subnets = resourcesOf(template, 'AWS::EC2::Subnet');
  expect(config.Subnets.map(plain)).toEqual([...subnets.keys()].map((id) => `<${id}>`));
  const zones = [...subnets.values()].map(({ Properties }) => JSON.stringify(Properties.AvailabilityZone));
  expect(new Set(zones).size).toBe(2);
  const { id: groupId } = only(template, 'AWS::EC2::SecurityGroup');
  expect(config.SecurityGroupIds.map(plain)).toEqual([`<${groupId}.GroupId>`]);
});

describe('from that network', () => {
  test('no route leads to the internet', () => {
    const ways = /Gateway|NAT|Route$|Peering|TransitGateway|EIP/;
    expect(typesOf(template).filter((type) => ways.test(type))).toEqual([]);
    for (const subnet of allProperties(template, 'AWS::EC2::Subnet')) {
      expect(subnet.MapPublicIpOnLaunch).toBe(false);
    }
  });

  test('S3 is reached by every subnet', () => {
    const endpoint = propertiesOf(template, 'AWS::EC2::VPCEndpoint');
    expect(plain(endpoint.ServiceName)).toBe('com.amazonaws.<AWS::Region>.s3');
    const tables = [...resourcesOf(template, 'AWS::EC2::RouteTable').keys()].map((id) => `<${id}>`);
    expect(endpoint.RouteTableIds.map(plain).toSorted()).toEqual(tables.toSorted());
  });

  test('only names of AWS are looked up', () => {
    const { FirewallRules: rules } = propertiesOf(template, 'AWS::Route53Resolver::FirewallRuleGroup');
    const inOrder = rules.toSorted((a: any, b: any) => a.Priority - b.Priority);
    const domainsOf = ({ FirewallDomainListId: list }: any) =>
      template.Resources[list['Fn::GetAtt'][0]]!.Properties.Domains;
    expect(inOrder.map((rule: any) => `${rule.Action} ${plain(domainsOf(rule))}`)).toEqual([
      'ALLOW *.<AWS::URLSuffix>',
      'BLOCK *',
    ]);
    const { VpcId } = propertiesOf(template, 'AWS::Route53Resolver::FirewallRuleGroupAssociation');
    expect(plain(VpcId)).toBe(`<${only(template, 'AWS::EC2::VPC').id}>`);
  });

  test('nobody is let in, and only HTTPS is let out', () => {
    const { SecurityGroupIngress, SecurityGroupEgress } = propertiesOf(template, 'AWS::EC2::SecurityGroup');
    expect(SecurityGroupIngress).toBeUndefined();
    const https = { IpProtocol: 'tcp', FromPort: 443, ToPort: 443 };
    expect(SecurityGroupEgress).toEqual([expect.objectContaining(https)]);
  });
});

test('with internetAccess the model runs in the network of SageMaker, and the stack has none', () => {
  const open = modelTemplateOf('small');
  expect(propertiesOf(open, 'AWS::SageMaker::Model').VpcConfig).toBeUndefined();
  expect(JSON.stringify(open)).not.toMatch(/EC2|ec2:|Route53Resolver/);
});
