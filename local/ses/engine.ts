import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { readBody } from '../http/read-body.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { isSigned, type SigningScope } from '../http/signed.ts';
import { readMail, toMessage } from './message.ts';

export interface SesOptions extends Omit<SigningScope, 'service'> {
  /** Where mails are written; made with the first one. */
  folder: string;
  /** Told of each mail once it is written. */
  onMail?: (path: string) => void;
}

const maxBodyBytes = 1024 * 1024;

/** Starts SES's SendEmail. Nothing is sent: each mail is a file that mail programs open. */
export async function startSes(options: SesOptions): Promise<RunningServer> {
  const server = createServer((request, response) => {
    serve(request, response, options).catch(() => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, 'InternalServiceErrorException', 'An internal failure occurred.');
    });
  });
  return listen(server);
}

async function serve(request: IncomingMessage, response: ServerResponse, options: SesOptions): Promise<void> {
  const body = await readBody(request, maxBodyBytes);
  if (body === null) {
    response.setHeader('connection', 'close');
    return fail(response, 413, 'RequestTooLargeException', 'The body is too large.');
  }
  if (!(await isSigned(request, body, { service: 'ses', ...options }))) {
    return fail(response, 403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
  }
  if (request.method !== 'POST' || request.url !== '/v2/email/outbound-emails') {
    return fail(response, 404, 'UnknownOperationException', 'This engine serves SendEmail.');
  }
  const mail = readMail(body.toString());
  if (typeof mail === 'string') return fail(response, 400, 'BadRequestException', mail);
  const MessageId = randomUUID();
  const now = new Date();
  await mkdir(options.folder, { recursive: true });
  const path = join(options.folder, `${now.toISOString().replaceAll(':', '-')}-${MessageId.slice(0, 8)}.eml`);
  await writeFile(path, toMessage(mail, MessageId, now), { mode: 0o600 });
  options.onMail?.(path);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ MessageId }));
}

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type });
  response.end(JSON.stringify({ message }));
}
