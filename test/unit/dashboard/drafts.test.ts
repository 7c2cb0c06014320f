import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { drafts, keepDraftsOf } from '../../../dashboard/src/lib/drafts.ts';

const account = (id: string) => ({ id, email: null });
const active = (id: string) => ({ status: 'active', account: account(id) }) as const;
const left = { status: 'left', account: null } as const;

/** A tab's storage as browsers have it: its keys are its own. */
function tabStorage(): Record<string, any> {
  const hidden = { enumerable: false };
  const storage: Record<string, any> = {};
  return Object.defineProperties(storage, {
    getItem: { ...hidden, value: (key: string) => storage[key] ?? null },
    setItem: { ...hidden, value: (key: string, value: string) => void (storage[key] = value) },
    removeItem: { ...hidden, value: (key: string) => void delete storage[key] },
  });
}

let storage: Record<string, any>;
const global = globalThis as any;
const before = Object.getOwnPropertyDescriptor(global, 'sessionStorage');
const useStorage = (value: unknown) =>
  Object.defineProperty(global, 'sessionStorage', { configurable: true, value });

beforeEach(() => {
  useStorage((storage = tabStorage()));
  storage.setItem('oidc.state', 'of the sign-in');
});
afterEach(() => {
  keepDraftsOf(left);
  if (before) Object.defineProperty(global, 'sessionStorage', before);
  else delete global.sessionStorage;
});

describe('drafts', () => {
  test('are kept for their account: over a renewal of its session, and a reload', () => {
    keepDraftsOf(active('ana'));
    drafts.setItem('form', 'a secret plan');
    keepDraftsOf(active('ana'));
    keepDraftsOf({ status: 'ended', account: account('ana') });
    keepDraftsOf({ status: 'none', account: null });
    keepDraftsOf(active('ana'));
    expect(drafts.getItem('form')).toBe('a secret plan');
  });

  test('are gone after the sign-out, and nothing is written any more', () => {
    keepDraftsOf(active('ana'));
    drafts.setItem('form', 'a secret plan');
    keepDraftsOf(left);
    drafts.setItem('form', 'a late one');
    expect(JSON.stringify(storage)).toBe('{"oidc.state":"of the sign-in"}');
  });

  test('are gone before another account reads them', () => {
    keepDraftsOf(active('ana'));
    drafts.setItem('form', 'a secret plan');
    keepDraftsOf({ status: 'ended', account: account('ana') });
    keepDraftsOf(active('bob'));
    expect([drafts.getItem('form'), storage['oidc.state']]).toEqual([null, 'of the sign-in']);
  });

  test('are not needed: a browser may block storage', () => {
    const blocked = () => {
      throw new Error('blocked');
    };
    useStorage({ getItem: blocked, setItem: blocked, removeItem: blocked });
    expect(() => keepDraftsOf(active('ana'))).not.toThrow();
  });
});
