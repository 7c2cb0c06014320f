import { expect, describe, test } from '@jest/globals';
import { networkStackNameOf, readConfiguration } from '../../lib/configuration.ts';
import { configurations, type ConfigurationName } from '../support/configurations.ts';
import type { Template } from '../support/policies.ts';
import { modelTemplateOf, networkTemplateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

// What the way to S3 lets through is in template-summary.txt.
const template = networkTemplateOf('everything');
const forms = ['everything', 'atZero'] as const;
const models = forms.map(modelTemplateOf);
const typesOf = (of: typeof template) => Object.values(of.Resources).map(({ Type }) => Type);

const networkNameOf = (name: ConfigurationName) =>
  networkStackNameOf(readConfiguration(configurations[name], 'The test'));

/** What imported values are in the stack that exports them. */
function imported(values: any[], { Outputs: outputs = {} } = template) {
  const exported = Object.values(outputs).map(({ Export, Value }) => [Export.Name, plain(Value)]);
  return values.map((value) => new Map(exported as [string, string][]).get(value['Fn::ImportValue']));
}

test('the model runs in a network of its own, in two availability zones', () => {
  const { VpcConfig: config } = propertiesOf(models[0]!, 'AWS::SageMaker::Model');
  const subnets = resourcesOf(template, 'AWS::EC2::Subnet');
  expect(imported(config.Subnets)).toEqual([...subnets.keys()].map((id) => `<${id}>`));
  const zones = [...subnets.values()].map(({ Properties }) => JSON.stringify(Properties.AvailabilityZone));
  expect(new Set(zones).size).toBe(2);
  const { id: groupId } = only(template, 'AWS::EC2::SecurityGroup');
  expect(imported(config.SecurityGroupIds)).toEqual([`<${groupId}.GroupId>`]);
});

test('with zones it is in those, up to four, and other zones make another network beside the old one', () => {
  const network = networkTemplateOf('tuned');
  const places = allProperties(network, 'AWS::EC2::Subnet').map((one) => [
    one.AvailabilityZone,
    one.CidrBlock,
  ]);
  expect(places).toEqual(['a', 'b', 'c', 'f'].map((zone, i) => [`eu-west-1${zone}`, `10.0.${i}.0/24`]));
  const { VpcConfig: config } = propertiesOf(modelTemplateOf('tuned'), 'AWS::SageMaker::Model');
  expect(imported(config.Subnets, network)).not.toContain(undefined);
  expect(networkNameOf('tuned')).toBe('image-generation-prod-network-abcf');
});

describe('when an endpoint is deleted', () => {
  test.each(forms)(
    'what its network interfaces hold, and the role that deletes them, stay in another stack: %s',
    (form) => {
      const [model, network] = [modelTemplateOf(form), networkTemplateOf(form)];
      expect(typesOf(model).filter((type) => /EC2|Route53Resolver|IAM::Role/.test(type))).toEqual([]);
      const { Roles: roles } = propertiesOf(model, 'AWS::IAM::Policy');
      expect(imported(roles, network)).toEqual([`<${only(network, 'AWS::IAM::Role').id}>`]);
    },
  );

  test('its role may read weights and image until everything of SageMaker is gone', () => {
    for (const model of models) {
      const { id } = only(model, 'AWS::IAM::Policy');
      const ofSageMaker = Object.keys(model.Resources).filter((other) => isOf(model, other, 'SageMaker'));
      expect(ofSageMaker.length).toBeGreaterThan(2);
      for (const other of ofSageMaker) expect(needs(model, other)).toContain(id);
    }
  });

  test('its policy has a name of its own: another model of the stage adds one to the same role', () => {
    const names = models.map((model) => propertiesOf(model, 'AWS::IAM::Policy').PolicyName);
    expect(names).toEqual([/testmodelg6xlargeM/, /nightmodelg6xlargezeroM/].map(expect.stringMatching));
  });
});

const isOf = ({ Resources: resources }: Template, id: string, service: string) =>
  resources[id]!.Type.startsWith(`AWS::${service}::`);

/** What must be there before a resource, and so is deleted after it. */
function needs(of: Template, id: string): string[] {
  const { DependsOn = [], Properties } = of.Resources[id]!;
  const named = [...JSON.stringify(Properties).matchAll(/"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/g)];
  const direct = [...DependsOn, ...named.map(([, other]) => other!)];
  return direct.flatMap((other) => [other, ...(other in of.Resources ? needs(of, other) : [])]);
}

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

  test('the way to S3 lets through all that the role may do there', () => {
    const actionsOf = ({ Statement }: any, place: RegExp): string[] =>
      Statement.filter(({ Resource }: any) => place.test(plain(Resource))).flatMap(
        ({ Action }: any) => Action,
      );
    const weights = /models\.example/;
    const { PolicyDocument: ofRole } = propertiesOf(models[0]!, 'AWS::IAM::Policy');
    const { PolicyDocument: ofWay } = propertiesOf(template, 'AWS::EC2::VPCEndpoint');
    const allowed = actionsOf(ofRole, weights).toSorted();
    expect(allowed).toEqual(['s3:GetBucketLocation', 's3:GetObject', 's3:ListBucket']);
    for (const place of [weights, /^\*$/]) {
      expect(actionsOf(ofWay, place)).toEqual(expect.arrayContaining(allowed));
    }
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

test('with internetAccess the model runs in the network of SageMaker, and there is no stack with one', () => {
  const open = modelTemplateOf('small');
  expect(networkNameOf('small')).toBeNull();
  expect(propertiesOf(open, 'AWS::SageMaker::Model').VpcConfig).toBeUndefined();
  expect(JSON.stringify(open)).not.toMatch(/EC2|ec2:|Route53Resolver/);
});
