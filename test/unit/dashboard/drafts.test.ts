import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { drafts, keepDraftsOf } from '../../../dashboard/src/lib/drafts.ts';

const account = (id: string) => ({ id, email: null });
const active = (id: string) => ({ status: 'active', account: account(id) }) as const;
const ended = { status: 'ended', account: account('ana') } as const;
const none = { status: 'none', account: null } as const;
const left = { status: 'left', account: null } as const;

const global = globalThis as any;
const before = Object.getOwnPropertyDescriptor(global, 'sessionStorage');
const useStorage = (value: unknown) =>
  Object.defineProperty(global, 'sessionStorage', { configurable: true, value });

/** A tab's storage as browsers have it: its keys are its own, and its methods are not. */
class TabStorage {
  [key: string]: any;
  getItem(key: string): string | null {
    return this[key] ?? null;
  }
  setItem(key: string, value: string): void {
    this[key] = value;
  }
  removeItem(key: string): void {
    delete this[key];
  }
}

let storage: TabStorage;

beforeEach(() => {
  useStorage((storage = new TabStorage()));
  storage.setItem('oidc.state', 'of the sign-in');
  keepDraftsOf(active('ana'));
  drafts.setItem('form', 'a secret plan');
});
afterEach(() => {
  keepDraftsOf(left);
  if (before) Object.defineProperty(global, 'sessionStorage', before);
  else delete global.sessionStorage;
});

test('drafts are kept for their account: over a renewal of its session, its end, and a reload', () => {
  for (const session of [active('ana'), ended, none, active('ana')]) keepDraftsOf(session);
  expect(drafts.getItem('form')).toBe('a secret plan');
});

test('drafts are gone after the sign-out, and nothing is written any more', () => {
  keepDraftsOf(left);
  drafts.setItem('form', 'a late one');
  expect({ ...storage }).toEqual({ 'oidc.state': 'of the sign-in' });
});

test('drafts are gone before another account reads them', () => {
  for (const session of [ended, active('bob')]) keepDraftsOf(session);
  expect([drafts.getItem('form'), storage['oidc.state']]).toEqual([null, 'of the sign-in']);
});

test('drafts are not needed: a browser may block storage', () => {
  const blocked = () => {
    throw new Error('blocked');
  };
  useStorage({ getItem: blocked, setItem: blocked, removeItem: blocked });
  expect(() => keepDraftsOf(active('bob'))).not.toThrow();
});
