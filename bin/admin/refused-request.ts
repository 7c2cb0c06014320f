import { noteRead } from '../../shared/accounts/audit-store.ts';
import { listRefused } from '../../shared/limits/refusal-store.ts';
import { readRefusedPrompt } from '../../shared/moderation/refused-prompt-store.ts';
import type { RefusedRequest } from '../../shared/limits/refusals.ts';
import { isoTime } from '../../shared/base/clock.ts';
import { keyValues, readableTime, type Answer } from '../common/output.ts';
import type { Session } from './command.ts';

/** Without what it was asked for. */
export function refusedText({ atMs, route, status, code, error, caller, keyName }: RefusedRequest): string {
  return keyValues([
    ['Refused', readableTime(atMs)],
    ['Route', route],
    ['Error', `${status} ${code}: ${error}`],
    ['Key', keyName === null ? caller : `${keyName} (${caller})`],
  ]);
}

/**
 * A request that was refused before it was accepted, while something of it is kept; null otherwise.
 * @param noteReason notes that its prompt is read, before it is; null where it is not to be read
 */
export async function showRefused(
  { stores: { table }, nowMs }: Session,
  licenseId: string,
  requestId: string,
  noteReason: (() => Promise<void>) | null,
): Promise<Answer | null> {
  const [refused] = await listRefused(table, licenseId, nowMs, requestId);
  const kept = await readRefusedPrompt(table, licenseId, requestId, nowMs);
  if (refused === undefined && kept === null) return null;
  const texts = refused === undefined ? [] : [refusedText(refused)];
  const promptKeptUntil = isoTime(kept && kept.endMs);
  if (noteReason === null || kept === null) {
    texts.push(
      keyValues([
        [
          'Prompt',
          kept ? `kept until ${readableTime(kept.endMs)}` : 'not kept (moderation.keepRefusedPrompts)',
        ],
      ]),
    );
    return { json: { requestId, refused: refused ?? null, promptKeptUntil }, text: texts.join('\n') };
  }
  await noteReason();
  const { prompt, negativePrompt, categories } = kept;
  texts.push(
    keyValues([
      ['Refused for', categories.join(', ')],
      ['Prompt', prompt],
      ['Negative prompt', negativePrompt],
    ]),
  );
  const json = { requestId, refused: refused ?? null, promptKeptUntil, prompt, negativePrompt, categories };
  return { json, text: texts.join('\n') };
}

/** Why a prompt is read, before it is. */
export async function noteRequestRead(
  session: Session,
  licenseId: string,
  requestId: string,
  reason: string,
): Promise<void> {
  const changes = Object.entries({ request: requestId, readBecause: reason });
  const note = {
    by: await session.operator(),
    action: 'request_read',
    subjectId: requestId,
    subjectName: null,
    changes: changes.map(([member, to]) => ({ member, from: null, to })),
  } as const;
  await noteRead(session.stores.table, { licenseId }, note, session.nowMs);
}
