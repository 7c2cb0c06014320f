import dns from 'node:dns';
import { get } from 'node:https';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { isPublicByRegistries } from '../../support/internet/address-model.ts';

/** Resolves to the number of bytes that it got. It stops just over the limit, because some answers never end. */
export type NaiveClient = (url: string, signal: AbortSignal) => Promise<number>;

const enough = referenceLimits.maxBytes + 1;

/** The first idea: `fetch`, and a look at the status. */
const plain: NaiveClient = async (url, signal) => {
  const answer = await fetch(url, { signal });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  let bytes = 0;
  for await (const chunk of answer.body ?? []) if ((bytes += chunk.length) >= enough) break;
  return bytes;
};

/** The next idea: check the name's addresses first. But `fetch` resolves the name again. */
const checking: NaiveClient = async (url, signal) => {
  const found = await dns.promises.resolve4(new URL(url).hostname);
  if (!found.every(isPublicByRegistries)) throw new Error('not public');
  return plain(url, signal);
};

/** An idea to get rid of errors: check no certificate, and take half an answer for an answer. */
const sloppy: NaiveClient = (url, signal) =>
  new Promise((resolve, reject) => {
    const request = get(url, { rejectUnauthorized: false, signal, agent: false }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        if ((bytes += chunk.length) >= enough) answer.destroy();
      });
      answer.on('error', () => undefined);
      answer.once('close', () => (signal.aborted ? reject(signal.reason) : resolve(bytes)));
    });
    request.on('error', reject);
  });

export const naiveClients = { plain, checking, sloppy };
