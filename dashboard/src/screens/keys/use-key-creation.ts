import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useCreateKey } from '@/api/queries.ts';
import type { CreatedKey, CreateKeyBody } from '@/api/types.ts';

export interface KeyCreation {
  create: (body: CreateKeyBody) => void;
  /** Drops the raw key. */
  forget: () => void;
  /** Holds the raw key, until it is forgotten. */
  created: CreatedKey | undefined;
  pending: boolean;
  error: Error | null;
  /** Whether the key is there and nobody has copied it. */
  unsaved: boolean;
  markCopied: () => void;
}

export function useKeyCreation(): KeyCreation {
  const { mutate, reset, data: created, isPending: pending, error } = useCreateKey();
  const queries = useQueryClient();
  const [copied, setCopied] = useState(false);
  const unsaved = created !== undefined && !copied;
  useWarningOnLeave(unsaved);

  // What the form believed of licenses and keys was wrong, or the key was made and its answer lost.
  const onError = (): void => {
    void queries.invalidateQueries({ queryKey: ['keys'] });
    void queries.invalidateQueries({ queryKey: ['licenses'] });
  };
  return {
    create: (body) => mutate(body, { onError }),
    forget: reset,
    created,
    pending,
    error,
    unsaved,
    markCopied: () => setCopied(true),
  };
}

/** Reloading or closing the page loses a key that was not copied: the browser asks first. */
function useWarningOnLeave(needed: boolean): void {
  useEffect(() => {
    if (!needed) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [needed]);
}
