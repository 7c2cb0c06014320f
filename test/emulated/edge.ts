import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, request as sendSecurely } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createAuthority } from '../support/internet/certificates.ts';
import { listen } from '../../local/http/server.ts';

export type Edge = Awaited<ReturnType<typeof startEdge>>;
export type EdgeAnswer = Awaited<ReturnType<Edge['send']>>;

interface EdgeRequest {
  headers?: Record<string, string>;
  /** Bytes are sent as they are, anything else as JSON. */
  body?: unknown;
}

const ofAws = /\.(amazonaws\.com|amazoncognito\.com|cloudfront\.net)$/;
const ownAddress = '127.0.0.1';

/**
 * Starts what lies between a caller and AWS: names, TLS with an authority of its own, and the way to the emulator. No request
 * of the emulated deployment leaves this machine.
 */
export async function startEdge() {
  const authority = createAuthority();
  const contexts = new Map<string, SecureContext>();
  const contextOf = (name: string) => {
    if (!contexts.has(name)) contexts.set(name, createSecureContext(authority.issue(name)));
    return contexts.get(name)!;
  };
  let aliases: ReadonlyMap<string, string> = new Map();
  let server = '';
  const others = new Map<string, string>();
  const isKnown = (name: string) =>
    name === ownAddress || ofAws.test(name) || aliases.has(name) || others.has(name);
  const strangers = new Set<string>();
  const secure = createSecureServer({
    ...authority.issue(ownAddress),
    SNICallback: (name, done) => done(null, contextOf(name)),
  });
  secure.on('request', (req, res) => passOn(req, res, others.get(req.headers.host ?? '') ?? server, aliases));
  const proxy = createServer((_req, res) => res.writeHead(502).end());
  proxy.on('connect', ({ url = '' }, socket, head: Buffer) => {
    const [name] = url.split(':');
    if (!isKnown(name!)) {
      strangers.add(name!);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      return;
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    secure.emit('connection', socket);
  });
  const running = await listen(proxy);
  await once(secure.listen(0, ownAddress), 'listening');
  const { port } = secure.address() as AddressInfo;
  return {
    /** Where every service of AWS answers, over TLS. */
    url: `https://${ownAddress}:${port}`,
    /** A proxy that leads to the same place, whatever name is asked for. */
    proxyUrl: running.url,
    /** The authority's certificate, for clients to trust. */
    certificate: authority.cert,
    /** Requests go to this server from now on. */
    leadTo: (serverUrl: string) => void (server = serverUrl),
    /** Requests for a name that is neither AWS's nor the deployment's go to this server from now on. */
    serve: (name: string, serverUrl: string) => void others.set(name, serverUrl),
    /** What the zone of the deployment says: requests for a name go to the name that it is an alias of. */
    setAliases: (of: ReadonlyMap<string, string>) => void (aliases = of),
    /** Names that were asked for and that nothing here serves. */
    strangers,
    /** One request of this process, to the real address. */
    send: (url: string, request?: EdgeRequest) => send(url, request, { port, ca: authority.cert }),
    async close() {
      const closed = once(secure, 'close');
      secure.close();
      secure.closeAllConnections();
      await Promise.all([closed, running.close()]);
    },
  };
}

/** Over plain HTTP, with a header that says that TLS ended here. The Host stays as it is, since signatures cover it. */
function passOn(
  req: IncomingMessage,
  res: ServerResponse,
  server: string,
  aliases: ReadonlyMap<string, string>,
): void {
  const { hostname, port } = new URL(server);
  const { host = '' } = req.headers;
  const target = aliases.get(host);
  // CloudFront knows a distribution by its alias; the emulator's only by its own name.
  const sentHost = target?.endsWith('.cloudfront.net') ? target : host;
  const headers = { ...req.headers, host: sentHost, 'x-forwarded-proto': 'https' };
  const forwarded = sendRequest({ hostname, port, method: req.method, path: req.url, headers });
  forwarded.on('response', (answer) => {
    res.writeHead(answer.statusCode!, answer.rawHeaders);
    answer.pipe(res);
  });
  forwarded.on('error', () => res.destroy());
  res.on('close', () => forwarded.destroy());
  req.pipe(forwarded);
}

async function send(url: string, { headers = {}, body }: EdgeRequest = {}, to: { port: number; ca: string }) {
  const { hostname, host, pathname, search } = new URL(url);
  const content = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const sent = sendSecurely({
    ...to,
    host: ownAddress,
    ...(hostname !== ownAddress && { servername: hostname }),
    method: content === undefined ? 'GET' : 'POST',
    path: `${pathname}${search}`,
    headers: { host, ...(content !== undefined && { 'content-type': 'application/json' }), ...headers },
  });
  const [response] = (await once(sent.end(content), 'response')) as [IncomingMessage];
  const answer = await text(response);
  return {
    status: response.statusCode!,
    headers: response.headers,
    text: answer,
    json: parsed(answer) as any,
  };
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return null;
  }
}
