import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { overOneMebibyte } from '../../lib/constructs/firewall.ts';
import { errorCodes } from '../../shared/errors.ts';
import { firewallFailures } from '../../shared/gateway-failures.ts';
import { templateOf } from '../support/stack.ts';

const template = templateOf({ requestsPerAddress: 500 });
const [webAcl] = Object.values(template.findResources('AWS::WAFv2::WebACL')).map(
  ({ Properties }) => Properties,
);
const rules: any[] = webAcl.Rules;
const ruleNamed = (name: string) => rules.find(({ Name }) => Name === name);

test('stands before the API', () => {
  const [association] = Object.values(template.findResources('AWS::WAFv2::WebACLAssociation'));
  expect(JSON.stringify(association!.Properties.ResourceArn)).toContain('/stages/');
  expect(webAcl).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
});

describe('bodies over 1 MiB', () => {
  const limit = 1024 * 1024;

  test('are told by the number that they are announced with', () => {
    const over = new RegExp(overOneMebibyte);
    const near = fc.integer({ min: -2000, max: 2000 }).map((distance) => limit + distance);
    fc.assert(
      fc.property(fc.oneof(near, fc.nat({ max: 20_000_000 }), fc.nat()), (bytes) => {
        expect(over.test(String(bytes))).toBe(bytes > limit);
        expect(over.test(`00${bytes}`)).toBe(bytes > limit);
      }),
      { numRuns: 5000 },
    );
  });

  test('are refused in the shape of the API', () => {
    const { Block: block } = ruleNamed('body-over-1-mib').Action;
    const { ResponseCode, CustomResponseBodyKey } = block.CustomResponse;
    const { code, error } = firewallFailures.tooLarge;
    expect(ResponseCode).toBe(errorCodes[code].status);
    expect(JSON.parse(webAcl.CustomResponseBodies[CustomResponseBodyKey].Content)).toEqual({ error, code });
  });
});

test('an address that asks too often is told to wait', () => {
  const { Statement, Action } = ruleNamed('requests-per-address');
  expect(Statement.RateBasedStatement).toEqual({
    AggregateKeyType: 'IP',
    EvaluationWindowSec: 300,
    Limit: 500,
  });
  const { ResponseCode, ResponseHeaders } = Action.Block.CustomResponse;
  expect(ResponseCode).toBe(429);
  expect(ResponseHeaders).toContainEqual({ Name: 'retry-after', Value: '300' });
});

test('no managed rule that looks into bodies blocks: a prompt may say anything', () => {
  const groups = rules.filter(({ Statement }) => Statement.ManagedRuleGroupStatement);
  expect(groups.map(({ Name }) => Name)).toEqual([
    'AWSManagedRulesAmazonIpReputationList',
    'AWSManagedRulesCommonRuleSet',
    'AWSManagedRulesKnownBadInputsRuleSet',
  ]);
  const counted = groups.flatMap(
    ({ Statement }) => Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? [],
  );
  // AWS's list of the rules of these groups that read the body.
  for (const name of [
    'SizeRestrictions_BODY',
    'CrossSiteScripting_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'EC2MetaDataSSRF_BODY',
    'Log4JRCE_BODY',
    'JavaDeserializationRCE_BODY',
    'ReactJSRCE_BODY',
  ]) {
    expect(counted).toContainEqual({ Name: name, ActionToUse: { Count: {} } });
  }
});

test('nothing keeps what callers sent: no samples, and logs without keys, queries and paths', () => {
  for (const { VisibilityConfig } of [webAcl, ...rules])
    expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
  const [logging] = Object.values(template.findResources('AWS::WAFv2::LoggingConfiguration'));
  expect(logging!.Properties.RedactedFields).toEqual([
    { SingleHeader: { Name: 'authorization' } },
    { QueryString: {} },
    { UriPath: {} },
  ]);
  const destination = JSON.stringify(logging!.Properties.LogDestinationConfigs);
  expect(destination).toMatch(/:logs:.*:log-group:/);
  expect(destination).not.toMatch(/Arn"\]|:\*/);
  expect(logging!.Properties.LoggingFilter).toMatchObject({ DefaultBehavior: 'DROP' });
});
