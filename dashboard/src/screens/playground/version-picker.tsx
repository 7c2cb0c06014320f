import { Field } from '@/components/field.tsx';
import { Select } from '@/components/ui/select.tsx';
import { usePlayground } from './use-playground.ts';
import { othersThan, versionChoices } from './versions.ts';

/** Which version of the identity makes the image, and with which one that is compared, where there is a choice. */
export function VersionPicker() {
  const { values, identity, versions: known, otherVersion, shownErrors, change } = usePlayground();
  const versions = known ?? [];
  const { identityVersion: chosen, otherVersion: wished } = values;
  const { identityVersion: error } = shownErrors;
  // While they are read it has its place already, so that nothing below it moves.
  const hasChoice = known === undefined ? (identity?.version ?? 1) > 1 : versions.length > 1;
  if (!hasChoice && error === undefined) return null;
  const gone = error === undefined ? [] : [{ id: chosen, label: `Version ${chosen}`, disabled: true }];
  // Until then what was chosen has no more than its number.
  const unread = known === undefined ? [...new Set([chosen, wished])].filter((id) => id !== '') : [];
  const numbers = unread.map((id) => ({ id, label: `Version ${id}` }));
  return (
    <>
      <Field
        label="Version"
        hint={chosen === '' ? undefined : 'It stays this one when another becomes active.'}
        error={error}
      >
        <Select
          none={`The active one: version ${identity?.version ?? ''}`}
          value={chosen}
          choices={[...gone, ...numbers, ...versionChoices(versions)]}
          onChange={(identityVersion = '') => change({ identityVersion })}
        />
      </Field>
      <Field
        label="Compare with"
        hint={otherVersion === null ? undefined : 'Both make the same request, with the same seed.'}
      >
        <Select
          none="No other version"
          value={known === undefined ? wished : String(otherVersion ?? '')}
          choices={[...numbers, ...versionChoices(othersThan(values, versions))]}
          onChange={(other = '') => change({ otherVersion: other })}
        />
      </Field>
    </>
  );
}
