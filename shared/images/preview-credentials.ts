import type { LinkCredentials } from './previews.ts';
import type { LinkCredentialsStore } from './link-credentials-store.ts';

export interface PreviewCredentialsDeps {
  role: { assume(): Promise<LinkCredentials> };
  stored: LinkCredentialsStore;
  /** Logs what kept this process from signing with the credentials of all. */
  onFault(error: unknown): void;
}

/**
 * Each process has credentials of its own, and links that are signed by two of them differ. So in each quarter of an hour
 * the first one to sign a link to a preview stores credentials of one role, and all sign with these.
 * @returns a function that never throws. Null says that they could not be had, and that whoever signs uses its own.
 */
export function previewCredentials({ role, stored, onFault }: PreviewCredentialsDeps) {
  return async (quarterMs: number): Promise<LinkCredentials | null> => {
    try {
      return (await stored.get(quarterMs)) ?? (await stored.insert(quarterMs, await role.assume()));
    } catch (error) {
      onFault(error);
      return null;
    }
  };
}
