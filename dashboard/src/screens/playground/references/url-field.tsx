import type { RefObject } from 'react';
import { Field } from '@/components/field.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Input } from '@/components/ui/input.tsx';
import { referenceStore, useReferences } from '../stores.ts';

/** The address of an image, for the service to fetch. */
export function UrlField({ ref }: { ref: RefObject<HTMLInputElement | null> }) {
  const { urlText, urlProblem } = useReferences();
  const add = (): void => {
    referenceStore.addTypedUrl();
    ref.current?.focus();
  };
  return (
    <Field label="Or by address" error={urlProblem}>
      {(control) => (
        <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-2">
          <Input
            {...control}
            ref={ref}
            inputMode="url"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="https://"
            value={urlText}
            onChange={({ target }) => referenceStore.typeUrl(target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
              event.preventDefault();
              add();
            }}
          />
          <Button variant="outline" aria-label="Add the address" onClick={add}>
            Add
          </Button>
        </div>
      )}
    </Field>
  );
}
