import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { errorCodes } from '../../shared/base/errors.ts';
import { firewallFailures } from '../../shared/routes/gateway-failures.ts';
import { answerHeaders } from '../../shared/routes/api.ts';
import type { Route } from '../../shared/routes/route.ts';
import { routes } from '../../shared/routes/routes.ts';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { readPage } from '../support/documents.ts';
import { isMatch, isOfApi } from '../support/door.ts';
import { idOf } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, plain, propertiesOf } from './resources.ts';
import { runs } from '../support/runs.ts';

const template = templateOf('tuned');
const webAclId = idOf(template, 'AWS::WAFv2::WebACL', isOfApi);
const webAcl = template.Resources[webAclId]!.Properties;
const rules: any[] = webAcl.Rules;
const ruleNamed = (name: string) => rules.find(({ Name }) => Name === name);

test('stands before the API', () => {
  const associations = allProperties(template, 'AWS::WAFv2::WebACLAssociation');
  const own = associations.find(({ WebACLArn: arn }) => plain(arn) === `<${webAclId}.Arn>`);
  expect(plain(own.ResourceArn)).toContain('/stages/');
});

test.each(Object.values(routes) as Route[])(
  'knows by their content-length bodies that are too large for $method $path',
  ({ method, path, maxBodyBytes: limit = 1024 * 1024 }) => {
    const near = fc.integer({ min: -2000, max: 2000 }).map((distance) => limit + distance);
    fc.assert(
      fc.property(fc.oneof(near, fc.nat({ max: 20_000_000 }), fc.nat()), (bytes) => {
        for (const text of [String(bytes), `00${bytes}`]) {
          const knock = { method, path: `/prod/api/v1${path}`, headers: { 'content-length': text } };
          const blocking = ['body-over-1-mib', 'form-over-its-limit'].filter((name) =>
            isMatch(ruleNamed(name).Statement, knock),
          );
          expect(blocking.length > 0).toBe(bytes > limit);
        }
      }),
      { numRuns: runs(100) },
    );
  },
);

test.each([
  ['body-over-1-mib', firewallFailures.tooLarge, undefined],
  ['form-over-its-limit', firewallFailures.tooLargeForm, undefined],
  ['requests-without-credentials', firewallFailures.tooManyWithoutCredentials, '300'],
  ['requests-per-address', firewallFailures.tooManyFromOneAddress, '300'],
])('%s refuses in the shape of the API', (name, { code, error }, retryAfter) => {
  const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } =
    ruleNamed(name).Action.Block.CustomResponse;
  expect(ResponseCode).toBe(errorCodes[code].status);
  expect(JSON.parse(webAcl.CustomResponseBodies[CustomResponseBodyKey].Content)).toEqual({ error, code });
  const headers = Object.fromEntries(ResponseHeaders.map(({ Name, Value }: any) => [Name, Value]));
  expect(headers['retry-after']).toBe(retryAfter);
  expect(headers).toMatchObject(answerHeaders(ResponseCode));
});

test('answers itself only what needs a status of its own: such an answer can’t have an X-Request-Id', () => {
  const own = rules.filter(({ Action: action }) => action?.Block?.CustomResponse).map(({ Name }) => Name);
  const ofAddresses = ['requests-without-credentials', 'requests-per-address'];
  expect(own).toEqual(['body-over-1-mib', 'form-over-its-limit', ...ofAddresses]);
  expect(webAcl.DefaultAction).toEqual({ Allow: {} });
});

test('an IP address may send as many requests in five minutes as the configuration says', () => {
  expect(ruleNamed('requests-per-address').Statement.RateBasedStatement).toEqual({
    AggregateKeyType: 'IP',
    EvaluationWindowSec: 300,
    Limit: 500,
  });
});

test.each<[method: string, authorization: string | undefined, isCounted: boolean]>([
  ['GET', `Bearer ${newApiKey()}`, false],
  ['GET', `bEARER   ${newApiKey()} `, false],
  ['GET', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiItXyJ9.c2ln-_', false],
  ['OPTIONS', undefined, false],
  ['GET', undefined, true],
  ['GET', newApiKey(), true],
  ['GET', `Bearer ${newApiKey().slice(1)}`, true],
  ['GET', `Bearer x${newApiKey()}`, true],
  ['GET', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiItXyJ9', true],
  ['GET', 'Basic dXNlcjpwYXNzd29yZA==', true],
])('%s with %s is one of the 300 without credentials: %s', (method, authorization, isCounted) => {
  const { Limit, ScopeDownStatement } = ruleNamed('requests-without-credentials').Statement
    .RateBasedStatement;
  expect(readPage('docs/api/limits.md')).toContain(`${Limit} of them without a whole API key`);
  expect(isMatch(ScopeDownStatement, { method, headers: { authorization } })).toBe(isCounted);
});

test('no managed rule that inspects bodies blocks: a prompt may contain any text', () => {
  const groups = rules.filter(({ Statement }) => Statement.ManagedRuleGroupStatement);
  expect(groups.map(({ Name }) => Name)).toEqual([
    'AWSManagedRulesAmazonIpReputationList',
    'AWSManagedRulesCommonRuleSet',
    'AWSManagedRulesKnownBadInputsRuleSet',
  ]);
  const overrides = groups.flatMap(
    ({ Statement }) => Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? [],
  );
  const counted = overrides.filter((rule) => rule.ActionToUse.Count).map(({ Name }) => Name);
  // AWS's list of the rules of these groups that read the body.
  const attacks = ['CrossSiteScripting', 'GenericLFI', 'GenericRFI', 'EC2MetaDataSSRF', 'Log4JRCE'];
  const inspecting = ['SizeRestrictions', ...attacks, 'JavaDeserializationRCE', 'ReactJSRCE'];
  expect(counted).toEqual(expect.arrayContaining(inspecting.map((rule) => `${rule}_BODY`)));
});

test('keeps nothing that callers sent: no samples, and logs without keys, queries and paths', () => {
  for (const { VisibilityConfig: visibility } of [webAcl, ...rules]) {
    expect(visibility.SampledRequestsEnabled).toBe(false);
  }
  const logging = propertiesOf(template, 'AWS::WAFv2::LoggingConfiguration');
  expect(logging.RedactedFields).toEqual([
    { SingleHeader: { Name: 'authorization' } },
    { QueryString: {} },
    { UriPath: {} },
  ]);
  expect(plain(logging.LogDestinationConfigs)).toMatch(/:logs:.*:log-group:<\w+>$/);
  expect(logging.LoggingFilter).toMatchObject({ DefaultBehavior: 'DROP' });
});
