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

/** What a DynamoDB request needs. A transaction needs what its writes need. */
export function tableNeeds(tableArn: string) {
  return (request: IncomingMessage, body: Buffer): Asked[] => {
    const operation = String(request.headers['x-amz-target']).split('.')[1]!;
    const input = JSON.parse(body.toString());
    const onItem = (action: string, key: { PK: { S: string } }): Asked => ({
      action: `dynamodb:${action}`,
      resource: tableArn,
      leadingKeys: [key.PK.S],
    });
    if (operation === 'BatchGetItem') {
      const requests = Object.values(input.RequestItems) as { Keys: { PK: { S: string } }[] }[];
      return requests.flatMap(({ Keys: keys }) => keys.map((key) => onItem(operation, key)));
    }
    if (operation === 'TransactWriteItems') {
      return input.TransactItems.map((item: Record<string, any>) => {
        const [[kind, of]] = Object.entries(item) as [[string, any]];
        return onItem(kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`, of.Key ?? of.Item);
      });
    }
    if (operation === 'Query') {
      const partition = /^(\w+) = (:\w+)/.exec(input.KeyConditionExpression)!;
      const leadingKeys = [input.ExpressionAttributeValues[partition[2]!].S];
      const resource = input.IndexName ? `${tableArn}/index/${input.IndexName}` : tableArn;
      return [{ action: 'dynamodb:Query', resource, leadingKeys }];
    }
    return [onItem(operation, input.Key ?? input.Item)];
  };
}

/** What an S3 request needs, whether it is signed by URL, form or header. A role's presigned URLs can do no more than the role. */
export function bucketNeeds(bucketArn: string) {
  return (request: IncomingMessage, body: Buffer): Asked[] => {
    if (request.method === 'POST') {
      const [, key] = /name="key"\r\n\r\n([^\r]+)/.exec(body.toString('latin1'))!;
      return [{ action: 's3:PutObject', resource: `${bucketArn}/${key}` }];
    }
    const action = request.method === 'PUT' ? 's3:PutObject' : 's3:GetObject';
    const key = decodeURIComponent(request.url!.split('?')[0]!.split('/').slice(2).join('/'));
    return [{ action, resource: `${bucketArn}/${key}` }];
  };
}

/** What an invocation of another function needs. */
export function functionNeeds(functionArn: (name: string) => string) {
  return (request: IncomingMessage): Asked[] => {
    const name = request.url!.split('/')[3]!;
    return [{ action: 'lambda:InvokeFunction', resource: functionArn(name) }];
  };
}

/** What an invocation of the model needs, with the adapter whose presigned URL it sends. */
export function modelNeeds(endpointArn: (name: string) => string, bucketArn: string) {
  return (request: IncomingMessage, body: Buffer): Asked[] => {
    const [, , name, verb] = request.url!.split('/');
    const action =
      verb === 'invocations-response-stream' ? 'InvokeEndpointWithResponseStream' : 'InvokeEndpoint';
    const asked: Asked[] = [{ action: `sagemaker:${action}`, resource: endpointArn(name!) }];
    const { identity } = JSON.parse(body.toString()) as { identity?: { adapterUrl: string | null } };
    if (identity?.adapterUrl) {
      const key = new URL(identity.adapterUrl).pathname.split('/').slice(2).join('/');
      asked.push({ action: 's3:GetObject', resource: `${bucketArn}/${key}` });
    }
    return asked;
  };
}
