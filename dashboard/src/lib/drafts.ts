export interface TabStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const prefix = 'draft-';
const ownerKey = 'drafts-of';
let isOpen = false;

/**
 * What this tab keeps over a reload for the account that is signed in: what is typed, and which requests it sent. Prompts
 * may be confidential, so it is removed at the sign-out, and before another account signs in.
 */
export const drafts: TabStorage = {
  getItem: (key) => sessionStorage.getItem(prefix + key),
  setItem(key, value) {
    if (isOpen) sessionStorage.setItem(prefix + key, value);
  },
};

/** Storage may be full or switched off: what is kept then lives as long as the page. */
export function keepDraft(key: string, value: unknown, storage: () => TabStorage = () => drafts): void {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch {
    // It is in memory.
  }
}

/** What was kept; an empty object where nothing was, or nothing that can be read. */
export function recallDraft(key: string, storage: () => TabStorage = () => drafts): Record<string, unknown> {
  try {
    const kept: unknown = JSON.parse(storage().getItem(key) ?? '{}');
    return typeof kept === 'object' && kept !== null ? { ...kept } : {};
  } catch {
    return {};
  }
}

interface SessionNow {
  status: 'none' | 'active' | 'ended' | 'left';
  account: { id: string } | null;
}

/** Call it whenever the session changes. */
export function keepDraftsOf({ status, account }: SessionNow): void {
  if (status === 'none') return;
  isOpen = status !== 'left';
  try {
    const owner = account?.id ?? null;
    if (sessionStorage.getItem(ownerKey) !== owner) removeAll();
    if (owner !== null) sessionStorage.setItem(ownerKey, owner);
  } catch {
    // Without storage there are no drafts.
  }
}

function removeAll(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix) || key === ownerKey) sessionStorage.removeItem(key);
  }
}
