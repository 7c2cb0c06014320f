import { createServer } from 'node:http';
import { appendFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { supportPolicy } from '../../../bin/admin/roles.ts';
import { dataFolder, writeJson } from '../../../local/data-folder.ts';
import { listen } from '../../../local/http/server.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import { subscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { identityStore } from '../../../shared/identities/store.ts';
import { keepRefused } from '../../../shared/limits/refusal-store.ts';
import { startAuthorizingProxy } from '../../support/authorizing-proxy.ts';
import { reserveAbandoned } from '../../support/period-totals.ts';
import { isAllowed, type Asked } from '../../support/policies.ts';
import { supportPlace, supportStatements } from '../../support/support-role.ts';
import { needsOf, readTableRequest } from '../../support/table-requests.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { evidenceOf } from '../../unit/billing/delivery.ts';
import { eventsOf, newSubscriptionId, t, type HandledEvent } from '../../unit/billing/stripe-fixtures.ts';
import { spawnAdmin, useAdmin } from './fixture.ts';

const fixture = useAdmin();
beforeAll(() => identityStore(fixture.table).put({ ...sampleIdentity, identityId: 'aurora' }));

const prompt = 'a calm night';
const nobodysKey = `key_${'0'.repeat(32)}`;

async function requestsOfOne() {
  const license = await fixture.license({ ownerId: `owner-${newRequestId(Date.now())}` });
  const { licenseId } = license;
  const request = { identityId: 'aurora', prompt, acceptedAtMs: Date.now(), keyId: nobodysKey };
  const { requestId } = await reserveAbandoned(fixture.table, license, request);
  const [atMs, refusedId] = [Date.now(), newRequestId(Date.now())];
  const why = { route: 'POST /generate', status: 400, code: 'TIER_LIMIT', error: 'Too large.' } as const;
  const owner = { licenseId, caller: nobodysKey, keyName: 'shop' };
  const refused = { requestId: refusedId, atMs, ...why };
  await keepRefused(fixture.table, owner, refused, new AbortController().signal);
  return { license, licenseId, requestId, refusedId };
}

const logLine = (requestId: string, licenseId: string) =>
  JSON.stringify({ message: 'request', requestId, licenseId, route: 'POST /generate', status: 200 });

describe('a request is found', () => {
  test('by the logs, stored or refused, without its prompt', async () => {
    const { licenseId, requestId, refusedId } = await requestsOfOne();
    const lines = [requestId, refusedId].map((id) => `${logLine(id, licenseId)}\n`);
    appendFileSync(dataFolder(fixture.folder).log, `no JSON ${requestId}\n${lines.join('')}`);
    // As it was pasted.
    const found = await fixture.json('find', ` ${requestId.toUpperCase()} `);
    expect(found).toMatchObject({ requestId, stored: [{ id: requestId, licenseId }], refused: [] });
    expect(found.logged).toEqual([JSON.parse(lines[0]!)]);
    expect(JSON.stringify(found)).not.toMatch(/prompt|calm/i);
    const { stdout } = await fixture.admin(`find ${refusedId}`);
    expect(stdout).toMatch(/Error +400 TIER_LIMIT: Too large\.\n/);
    expect(stdout).toMatch(/Key +shop \(key_0+\)\n/);
  });

  test('without logs by its license or its account, else it says how long logs are kept', async () => {
    const { license, licenseId, requestId } = await requestsOfOne();
    for (const where of [`--license ${licenseId}`, `--owner ${license.ownerId}`])
      expect((await fixture.json(`find ${requestId} ${where}`)).stored).toMatchObject([{ id: requestId }]);
    expect(await fixture.refused(1, `find ${requestId}`)).toContain('the option logRetentionDays');
    const other = await fixture.license({ ownerId: 'other' });
    const none = await fixture.refused(1, `find ${requestId} --license ${other.licenseId}`);
    expect(none).toContain('without --license and --owner');
  });

  test('on AWS by half an hour of the stack’s logs around the time that its id tells', async () => {
    const { licenseId, requestId } = await requestsOfOne();
    const asked: any[] = [];
    const server = createServer(async (req, res) => {
      const body = Buffer.concat(await req.toArray()).toString();
      const target = String(req.headers['x-amz-target']).split('.')[1];
      const xml = (action: string, text: string) =>
        res.end(`<${action}Response><${action}Result>${text}</${action}Result></${action}Response>`);
      const { tableName: TableName, bucketName: BucketName } = fixture.engines;
      const outputs = Object.entries({ TableName, BucketName, UserPoolId: 'p' }).map(
        ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
      );
      const group = `<member><ResourceType>AWS::Logs::LogGroup</ResourceType><PhysicalResourceId>images-Log-1</PhysicalResourceId></member>`;
      if (body.includes('Action=DescribeStacks'))
        return void xml(
          'DescribeStacks',
          `<Stacks><member><Outputs>${outputs.join('')}</Outputs></member></Stacks>`,
        );
      if (body.includes('Action=ListStackResources'))
        return void xml('ListStackResources', `<StackResourceSummaries>${group}</StackResourceSummaries>`);
      asked.push(JSON.parse(body));
      const isFirst = asked.length === 2;
      const row = [{ field: '@message', value: `${logLine(requestId, licenseId)}\n` }];
      const answers = {
        StartQuery: { queryId: 'q' },
        GetQueryResults: { status: isFirst ? 'Running' : 'Complete', results: isFirst ? [] : [row] },
      };
      res.end(JSON.stringify(answers[target as keyof typeof answers]));
    });
    const { url, close } = await listen(server);
    const { stdout, stderr } = await spawnAdmin(
      ['find', requestId, '--json', '--stack', 'images', '--region', 'eu-west-1'],
      {
        AWS_ENDPOINT_URL_DYNAMODB: fixture.engines.dynamoDbUrl,
        AWS_ENDPOINT_URL_CLOUDFORMATION: url,
        AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: url,
        AWS_ACCESS_KEY_ID: 'AKIDTEST',
        AWS_SECRET_ACCESS_KEY: 'secret',
      },
    );
    await close();
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ stored: [{ id: requestId }], logged: [{ licenseId }] });
    const [query, ...results] = asked;
    expect(query.logGroupNames).toEqual(['images-Log-1']);
    expect(query.queryString).toContain(`filter requestId = "${requestId}"`);
    expect(query.endTime - query.startTime).toBeLessThan(2000);
    expect(results).toEqual([{ queryId: 'q' }, { queryId: 'q' }]);
  });
});

test('a key is found by its id or as a whole, by its beginning in a license or an account, and in all others by a scan that says its cost first', async () => {
  const { licenseId, ownerId } = await fixture.license({ ownerId: 'keeper' });
  const { key, keyId, keyPrefix } = await fixture.json(`key issue ${licenseId} --name app`);
  for (const where of [`--license ${licenseId}`, `--owner ${ownerId}`])
    expect((await fixture.json(`find ${keyPrefix} ${where}`)).keys).toMatchObject([{ keyId, licenseId }]);
  for (const word of [keyId, key])
    expect((await fixture.json(`find ${word}`)).keys).toMatchObject([{ keyId, licenseId }]);
  await fixture.refused(1, `find key_${'1'.repeat(32)}`);
  const nobodys = await fixture.license({ ownerId: 'nobody' });
  expect(await fixture.refused(1, `find ${keyPrefix} --license ${nobodys.licenseId}`)).toContain('No key');
  expect(await fixture.refused(2, `find ${keyPrefix}`)).toContain('--scan');
  const cost = await fixture.refused(1, `find ${keyPrefix} --scan`);
  expect(cost).toMatch(/about [\d,]+ read units, \$\d+\.\d\d at list price\. Nothing was read: add --yes/);
  expect((await fixture.json(`find ${keyPrefix} --scan --yes`)).keys).toMatchObject([{ keyId }]);
  const { requestId, licenseId: other } = await requestsOfOne();
  expect((await fixture.json(`find ${requestId} --scan --yes`)).stored).toMatchObject([{ licenseId: other }]);
});

test('a subscription is found by its license', async () => {
  const { licenseId } = await fixture.license({ licenseId: 'lic_sub_1Find' });
  expect(await fixture.json('find sub_1Find')).toMatchObject({ licenseId });
  expect(await fixture.json(`find ${licenseId}`)).toMatchObject({ licenseId });
  await fixture.refused(1, 'find sub_none');
  // A license may have any name as its id, so a key's id that was cut looks like one.
  for (const word of ['nothing', 'key_12']) {
    expect(await fixture.refused(1, `find ${word}`)).toMatch(
      /no license .*, and this is no request id.*svc_live_/,
    );
  }
  expect(await fixture.refused(2, 'find', 'two words')).toContain('This is no request id');
});

test('a customer of Stripe’s is found with the licenses of each subscription, and with one that nobody owns', async () => {
  const [customer, mine, nobodys] = ['cus_find', newSubscriptionId(), newSubscriptionId()];
  const rules = { prices: { price_pro: { tier: 'pro' } }, pastDueGraceDays: 7 } as const;
  const deps = { subscriptions: subscriptionStore(fixture.table), rules };
  const apply = (event: HandledEvent) => applyBillingEvidence(evidenceOf(event)!, deps);
  await apply(eventsOf(mine).paid(t));
  expect(await fixture.refused(1, `find ${customer}`)).toContain('sub_…');
  await apply(eventsOf(nobodys).created(t, { customer, metadata: {} }));
  await apply(eventsOf(mine).created(t, { customer }));
  await apply(eventsOf(mine).paid(t + 1));
  await apply(eventsOf(newSubscriptionId()).created(t, { customer: 'cus_other' }));
  const found = await fixture.json(`find ${customer}`);
  expect(found).toMatchObject({ licenses: [{ licenseId: `lic_${mine}` }], unowned: [`lic_${nobodys}`] });
  const { stdout } = await fixture.admin(`find ${customer}`);
  expect(stdout).toContain(`${nobodys} has no license: nobody owns it.`);
});

test('with the role for support all can be looked at, and neither prompts nor the whole table, nor anything changed', async () => {
  const { license, licenseId, requestId, refusedId } = await requestsOfOne();
  const { key, keyId, keyPrefix } = await fixture.json(`key issue ${licenseId} --name app`);
  appendFileSync(dataFolder(fixture.folder).log, `${logLine(requestId, licenseId)}\n`);
  const refused: Asked[] = [];
  const tableArn = `arn:aws:dynamodb:eu-west-1:123456789012:table/${supportPlace.tableName}`;
  const needs: Parameters<typeof startAuthorizingProxy>[0]['needs'] = (request, body) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1]!;
    const isOfTable = ['Scan', 'DescribeTable'].includes(operation);
    if (isOfTable) return [{ action: `dynamodb:${operation}`, resource: tableArn }];
    return needsOf(readTableRequest(request, body), tableArn);
  };
  const proxy = await startAuthorizingProxy({
    target: fixture.engines.dynamoDbUrl,
    needs,
    isAllowed: (asked) => isAllowed(supportStatements(), asked),
    onAsked: (asked, allowed) => void (allowed || refused.push(asked)),
  });
  const { engines: path } = dataFolder(fixture.folder);
  writeJson(path, { ...fixture.engines, dynamoDbUrl: proxy.url });
  for (const words of [
    `find ${requestId}`,
    `find ${refusedId} --license ${licenseId}`,
    `find ${keyPrefix} --owner ${license.ownerId}`,
    `find ${key}`,
    `license show ${licenseId}`,
    `license list --owner ${license.ownerId}`,
    `generation show ${licenseId} ${requestId}`,
    `generation list ${licenseId}`,
    `key list ${licenseId}`,
    `usage ${licenseId}`,
    `audit ${licenseId}`,
    'identity list',
    'find cus_find',
  ]) {
    await fixture.json(words);
    expect({ words, refused }).toEqual({ words, refused: [] });
  }
  for (const words of [
    `generation show ${licenseId} ${requestId} --prompt --reason why`,
    `find ${keyPrefix} --scan --yes`,
    'license list',
    `key revoke ${keyId} --yes`,
    `license change ${licenseId} --credits 1000000`,
  ]) {
    const { code, stdout } = await fixture.admin(words);
    expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: '' });
    expect(refused.splice(0)).not.toEqual([]);
  }
  writeJson(path, fixture.engines);
  await proxy.close();
  expect(JSON.stringify(supportPolicy(supportPlace))).not.toMatch(/s3:|LINKS|ONCE#|Scan|Put|Update|Delete/);
});
