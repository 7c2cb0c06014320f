import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asked } from './policies.ts';

export interface ProxyOptions {
  /** The engine behind it. */
  target: string;
  /** What a request needs, in IAM's words. */
  needs(request: IncomingMessage, body: Buffer): Asked[];
  isAllowed(asked: Asked): boolean;
  /** Told of everything that was asked for. */
  onAsked(asked: Asked, allowed: boolean): void;
}

export interface AuthorizingProxy {
  url: string;
  close(): Promise<void>;
}

/** Stands before an engine as IAM stands before AWS: what a role's policies do not allow does not reach it. */
export async function startAuthorizingProxy(options: ProxyOptions): Promise<AuthorizingProxy> {
  const server: Server = createServer((req, res) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
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
      const target = new URL(options.target);
      const { hostname, port } = target;
      // The host is part of what was signed, so it stays the proxy's.
      const forwarded = sendRequest({
        hostname,
        port,
        method: req.method,
        path: req.url,
        headers: req.headers,
      });
      forwarded.on('response', (answer) => {
        res.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(res);
      });
      forwarded.on('error', () => res.destroy());
      res.on('close', () => forwarded.destroy());
      forwarded.end(body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** DynamoDB's operations in IAM's words; a transaction is the writes in it. */
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

/** Object requests, by signed link, form or header: what a role may do is what its links and forms may do. */
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

/** An invocation of another function. */
export function functionNeeds(functionArn: (name: string) => string) {
  return (request: IncomingMessage): Asked[] => {
    const name = request.url!.split('/')[3]!;
    return [{ action: 'lambda:InvokeFunction', resource: functionArn(name) }];
  };
}

/** An invocation, and the adapter whose link it hands to the model. */
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
