import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveJsonProtocol } from '../http/json-protocol.ts';
import { AwsFault } from '../http/rest.ts';
import type { SigningScope } from '../http/signed.ts';
import { ACCOUNT } from './failures.ts';
import type { CopyScaling } from './scale-to-zero.ts';

/** An endpoint's one inference component. */
export interface Component {
  name: string;
  endpointName: string;
  scaling: CopyScaling;
  /** Who may ask the control plane. */
  signing: Omit<SigningScope, 'service'>;
}

/** Answers DescribeInferenceComponent (Amazon SageMaker API reference). */
export async function serveControlPlane(
  request: IncomingMessage,
  response: ServerResponse,
  component: Component,
): Promise<void> {
  await serveJsonProtocol(request, response, {
    targets: ['SageMaker.DescribeInferenceComponent'],
    signing: { service: 'sagemaker', ...component.signing },
    maxBodyBytes: 1024 * 1024,
    perform(body) {
      const name = nameIn(body);
      const arn = arnOf(component, `inference-component/${name}`);
      if (name === component.name) return description(component, arn);
      throw new AwsFault('ValidationException', `Could not find inference component "${arn}".`);
    },
  });
}

function nameIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()).InferenceComponentName;
  } catch {
    return undefined;
  }
}

const arnOf = ({ signing }: Component, resource: string) =>
  `arn:aws:sagemaker:${signing.region}:${ACCOUNT}:${resource}`;

function description(component: Component, arn: string): object {
  const { name, endpointName, scaling } = component;
  const { current, desired, changedAtMs } = scaling.copies();
  return {
    InferenceComponentName: name,
    InferenceComponentArn: arn,
    EndpointName: endpointName,
    EndpointArn: arnOf(component, `endpoint/${endpointName}`),
    VariantName: 'AllTraffic',
    InferenceComponentStatus: current === desired ? 'InService' : 'Updating',
    RuntimeConfig: { CurrentCopyCount: current, DesiredCopyCount: desired },
    LastModifiedTime: changedAtMs / 1000,
  };
}
