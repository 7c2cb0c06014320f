import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { listen, type RunningServer } from '../../local/http/server.ts';
import { forward } from './forward.ts';
import type { Asked } from './policies.ts';

export interface ProxyOptions {
  /** The engine behind it. */
  target: string;
  /** The IAM actions and resources that a request needs. */
  needs(request: IncomingMessage, body: Buffer): Asked[];
  isAllowed(asked: Asked): boolean;
  onAsked(asked: Asked, allowed: boolean): void;
}

/** A proxy in front of an engine that forwards only requests that a role's policies allow. */
export function startAuthorizingProxy(options: ProxyOptions): Promise<RunningServer> {
  const meet = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await buffer(req);
    const refused = options.needs(req, body).filter((asked) => {
      const allowed = options.isAllowed(asked);
      options.onAsked(asked, allowed);
      return !allowed;
    });
    if (refused.length > 0) {
      res.writeHead(403, { 'content-type': 'application/x-amz-json-1.0' });
      res.end(JSON.stringify({ __type: 'AccessDeniedException', message: 'not authorized' }));
      return;
    }
    const answer = await forward(options.target, req, body);
    res.writeHead(answer.statusCode!, answer.headers);
    await pipeline(answer, res);
  };
  return listen(createServer((req, res) => void meet(req, res).catch(() => res.destroy())));
}

/** What an S3 request needs, whether it is signed by URL, form or header. A role's presigned URLs can do no more than the role. */
export function bucketNeeds(bucketArn: string) {
  return (request: IncomingMessage, body: Buffer): Asked[] => {
    if (request.method === 'POST') {
      const [, key] = /name="key"\r\n\r\n([^\r]+)/.exec(body.toString('latin1'))!;
      return [{ action: 's3:PutObject', resource: `${bucketArn}/${key}` }];
    }
    const actions: Record<string, string> = { PUT: 's3:PutObject', DELETE: 's3:DeleteObject' };
    const action = actions[request.method!] ?? 's3:GetObject';
    const key = decodeURIComponent(request.url!.split('?')[0]!.split('/').slice(2).join('/'));
    return [{ action, resource: `${bucketArn}/${key}` }];
  };
}

/** What an invocation of another function needs. */
export function functionNeeds(functionArn: (name: string) => string) {
  return (request: IncomingMessage): Asked[] => {
    const name = decodeURIComponent(request.url!.split('/')[3]!);
    return [{ action: 'lambda:InvokeFunction', resource: functionArn(name) }];
  };
}

/** What a request to a queue needs. */
export function queueNeeds(queueArn: (name: string) => string) {
  return (request: IncomingMessage, body: Buffer): Asked[] => {
    const operation = String(request.headers['x-amz-target']).split('.')[1];
    const name = JSON.parse(body.toString()).QueueUrl.split('/').at(-1);
    return [{ action: `sqs:${operation}`, resource: queueArn(name) }];
  };
}

/**
 * What a call of the model needs, with the component that it names and the adapter whose presigned URL it sends; or a
 * question about a component.
 * @param modelArn of an endpoint or a component
 */
export function modelNeeds(modelArn: (kind: string, name: string) => string, bucketArn: string) {
  return (request: IncomingMessage, body: Buffer): Asked[] => {
    const target = request.headers['x-amz-target'];
    if (target !== undefined) {
      const { InferenceComponentName: component } = JSON.parse(body.toString());
      const action = `sagemaker:${String(target).split('.')[1]}`;
      return [{ action, resource: modelArn('inference-component', component) }];
    }
    const [, , name, verb] = request.url!.split('/');
    const action =
      verb === 'invocations-response-stream' ? 'InvokeEndpointWithResponseStream' : 'InvokeEndpoint';
    const component = request.headers['x-amzn-sagemaker-inference-component'];
    const resources = [modelArn('endpoint', name!)];
    if (component !== undefined) resources.push(modelArn('inference-component', String(component)));
    const asked: Asked[] = resources.map((resource) => ({ action: `sagemaker:${action}`, resource }));
    const { identity } = JSON.parse(body.toString()) as { identity?: { adapterUrl: string | null } };
    if (identity?.adapterUrl) {
      const key = new URL(identity.adapterUrl).pathname.split('/').slice(2).join('/');
      asked.push({ action: 's3:GetObject', resource: `${bucketArn}/${key}` });
    }
    return asked;
  };
}
