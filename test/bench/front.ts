/**
 * A deployed function behind a bare HTTP server of Node.js: each request becomes the event that API Gateway would
 * make of it, and the streamed answer goes back as it comes. Run as: node front.ts PORT BUNDLE PATH
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { installLambdaGlobal, invoke } from '../../local/gateway/lambda-host.ts';
import { pathMatcher, proxyEvent } from '../../local/gateway/proxy-event.ts';

const [port, bundle, resource] = process.argv.slice(2) as [string, string, string];
installLambdaGlobal();
const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: unknown };
const match = pathMatcher(resource);

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [path, search = ''] = (req.url ?? '').split('?', 2) as [string, string?];
  const matched = match(path);
  if (matched === null) return void res.writeHead(404).end();
  const event = proxyEvent(req, matched, path, search, await buffer(req));
  const { statusCode, headers, body } = await invoke(handler, event, 60_000, () => {});
  res.writeHead(statusCode, headers);
  for await (const chunk of body) res.write(chunk);
  res.end();
}

createServer(
  (req, res) => void answer(req, res).catch((error: unknown) => res.destroy(error as Error)),
).listen(Number(port), '127.0.0.1');
