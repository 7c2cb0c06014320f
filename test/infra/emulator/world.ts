import type { Template } from '../../support/policies.ts';
import { everything, synthesize, type Options } from '../../support/synthesized.ts';
import {
  answerCustomResources,
  bootstrap,
  clientsOf,
  createStack,
  describeStack,
  makeByHand,
  uploadAssets,
  withNames,
  type Clients,
  type Deployed,
} from './deployment.ts';
import { startMoto, type Moto } from './moto.ts';

/** The stack in an account that is empty otherwise. */
export interface World extends Deployed {
  moto: Moto;
  clients: Clients;
  options: Options;
  stackName: string;
  template: Template;
  /** Refusals of services, by logical id, of what is made by hand. */
  refused: Record<string, string>;
  /** The physical id of the only resource of a type, or of the one whose logical id begins so. */
  physicalId(type: string, prefix?: string): string;
  close(): Promise<void>;
}

/** The bus that moto looks for: what stands after the last slash of the partner's. */
export const eventBusName = 'ed_test';

/** Deploys the stack with every option, as far as moto goes. */
export async function deployEverything(): Promise<World> {
  const moto = await startMoto();
  try {
    return await deployTo(moto);
  } catch (error) {
    await moto.close();
    throw error;
  }
}

async function deployTo(moto: Moto): Promise<World> {
  const clients = clientsOf(moto);
  await bootstrap(moto, clients);
  await moto.ask('events', 'create_event_bus', { Name: eventBusName });
  const zone = { Name: 'example.com', CallerReference: 'test' };
  const { HostedZone: hostedZone } = await moto.ask('route53', 'create_hosted_zone', zone);
  const options = optionsWith(hostedZone.Id.replace('/hostedzone/', ''));
  const stackName = `image-generation-${options.stage}`;
  const synthesized = synthesize(options);
  const { template } = synthesized;
  await uploadAssets(clients, synthesized);
  synthesized.remove();
  await createStack(clients, stackName, template);
  const { resources } = await describeStack(clients, stackName);
  await answerCustomResources(moto, clients, stackName, resources);
  const deployed = await describeStack(clients, stackName);
  const { names, refused } = await makeByHand(moto, template, deployed);
  const outputs = Object.entries(deployed.outputs).map(([name, value]) => [name, withNames(value, names)]);
  return {
    moto,
    clients,
    options,
    stackName,
    template,
    refused,
    resources,
    outputs: Object.fromEntries(outputs),
    physicalId(type, prefix = '') {
      const [found, ...more] = Object.entries(resources).filter(
        ([logicalId, resource]) => resource.type === type && logicalId.startsWith(prefix),
      );
      if (!found || more.length > 0) throw new Error(`${more.length + 1} of ${type} ${prefix}`);
      return found[1].physicalId;
    },
    close: () => moto.close(),
  };
}

function optionsWith(hostedZoneId: string): Options {
  return {
    ...everything,
    domain: { ...everything.domain!, hostedZone: { id: hostedZoneId, name: 'example.com' } },
    // moto's list of instance types ends years before the default one.
    inference: { ...everything.inference, kind: 'endpoint', instanceType: 'ml.g4dn.xlarge' } as never,
  };
}
