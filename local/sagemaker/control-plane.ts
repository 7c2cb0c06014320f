import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { isSigned, type SigningScope } from '../http/signed.ts';
import { ACCOUNT } from './failures.ts';
import type { Sleeper } from './sleeper.ts';

/** An endpoint's one inference component. */
export interface Component {
  name: string;
  endpointName: string;
  sleeper: Sleeper;
  /** Who may ask the control plane. */
  signing: Omit<SigningScope, 'service'>;
}

const maxBodyBytes = 1024 * 1024;

/** Answers DescribeInferenceComponent (Amazon SageMaker API reference), in AWS's JSON protocol 1.1. */
export async function serveControlPlane(
  request: IncomingMessage,
  response: ServerResponse,
  component: Component,
): Promise<void> {
  const body = await readBody(request, maxBodyBytes);
  if (body === null) return fail(response, 413, 'RequestEntityTooLargeException', 'The body is too large.');
  if (!(await isSigned(request, body, { service: 'sagemaker', ...component.signing }))) {
    const message = 'The request signature we calculated does not match the signature you provided.';
    return fail(response, 403, 'InvalidSignatureException', message);
  }
  if (request.headers['x-amz-target'] !== 'SageMaker.DescribeInferenceComponent') {
    return fail(response, 400, 'UnknownOperationException', 'This engine serves DescribeInferenceComponent.');
  }
  const name = nameIn(body);
  const arn = arnOf(component, `inference-component/${name}`);
  if (name === component.name) return send(response, 200, description(component, arn));
  fail(response, 400, 'ValidationException', `Could not find inference component "${arn}".`);
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
  const { name, endpointName, sleeper } = component;
  const { current, desired, changedAtMs } = sleeper.copies();
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

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  send(response, status, { __type: type, message });
}

function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(value));
}
