import { STSClient } from '@aws-sdk/client-sts';
import { instanceTypesOf } from '../../../lib/inference-options.ts';
import { awsUrl, signedFetch } from '../../../shared/base/signed-fetch.ts';
import { ask, type Aws } from '../aws.ts';
import { wasCreated } from '../stacks.ts';
import { note, type Check } from './check.ts';

/** As many zones as the network has room for. */
const mostZones = 4;

/**
 * The zones where EC2 offers any of SageMaker's instance types (Amazon EC2, "DescribeInstanceTypeOfferings"). It is one
 * signed request, because EC2's client would be the largest package of all.
 * @throws Error with the code of EC2's refusal as its name.
 */
async function zonesWith(aws: Aws, types: string[]): Promise<string[]> {
  const filters = types.map((type, i) => [`Filter.1.Value.${i + 1}`, type.replace(/^ml\./, '')]);
  const action = { Action: 'DescribeInstanceTypeOfferings', Version: '2016-11-15' };
  const input = { ...action, LocationType: 'availability-zone', 'Filter.1.Name': 'instance-type' };
  const body = new URLSearchParams({ ...input, ...Object.fromEntries(filters) }).toString();
  const url = process.env.AWS_ENDPOINT_URL ?? awsUrl('ec2', aws.settings.region);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  // Only the client's settings are used, which know how to sign.
  const response = await ask(aws, STSClient, ({ config }) =>
    signedFetch('ec2', config)({ url, headers, body, withinMs: aws.timeLimitMs }),
  );
  const text = await response.text();
  const valuesOf = (tag: string) =>
    [...text.matchAll(new RegExp(`<${tag}>([^<]+)<`, 'g'))].map(([, value]) => value!);
  if (!response.ok) {
    const [code = 'Error', message = `EC2 answered ${response.status}.`] = ['Code', 'Message'].flatMap(
      valuesOf,
    );
    throw Object.assign(new Error(message), { name: code });
  }
  // Local zones have longer names, and no endpoints.
  const { length } = aws.settings.region;
  return [...new Set(valuesOf('location'))].filter((zone) => zone.length === length + 1).toSorted();
}

/** Whether the model's network is where its instances are. */
export const zones: Check = {
  subject: "which availability zones have the model's instances",
  permission: 'ec2:DescribeInstanceTypeOfferings and cloudformation:DescribeStacks',
  async run({ aws, deployment, targets }, { stacks }) {
    const { configuration, networkStackName } = deployment;
    const { inference } = configuration;
    if (inference.kind !== 'endpoint' || !targets.includes(networkStackName!)) return [];
    const types = instanceTypesOf(inference);
    const found = await zonesWith(aws, types);
    const named = types.join(' or ');
    if (found.length === 0) return note(`EC2 has no ${named} in any zone of ${aws.settings.region}.`);
    const proposal = `"zones": ${JSON.stringify(found.slice(0, mostZones))}`;
    if (inference.zones === null) {
      // Other zones make another network, and a second fleet in it: no advice where the model may run already.
      if (wasCreated((await stacks).get(networkStackName!)!)) return [];
      return note(
        `The model's network takes the first two zones, whatever they have. EC2 has ${named} in ${found.join(', ')}: put ${proposal} into "inference" (docs/deploying.md#the-models-network).`,
      );
    }
    const without = inference.zones.filter((zone) => !found.includes(zone));
    if (without.length === 0) return [];
    return note(
      `EC2 has no ${named} in ${without.join(', ')}, so no instance starts there. It has in others: ${proposal}.`,
    );
  },
};

/** Whether a request and its repetition run on the same type of card. */
export const severalTypes: Check = {
  subject: 'whether seeds repeat',
  permission: 'none',
  async run({ deployment: { configuration, modelStackName }, targets }) {
    const { inference } = configuration;
    const isOne = inference.kind !== 'endpoint' || inference.otherInstanceTypes.length === 0;
    if (isOne || !targets.includes(modelStackName!)) return [];
    return note(
      'With inference.otherInstanceTypes a request and its repetition may run on different cards. A seed gives the same file only on the same type of card, which modelVersion names (docs/api/reproducibility.md).',
    );
  },
};
