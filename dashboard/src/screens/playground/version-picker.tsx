import { Field } from '@/components/field.tsx';
import { Select } from '@/components/ui/select.tsx';
import { usePlayground } from './use-playground.ts';
import { othersThan, versionChoices } from './versions.ts';

/** Which version of the identity makes the image, and with which one that is compared, where there is a choice. */
export function VersionPicker() {
  const { values, identity, versions = [], otherVersion, shownErrors, change } = usePlayground();
  const { identityVersion: chosen } = values;
  const { identityVersion: error } = shownErrors;
  if (versions.length < 2 && error === undefined) return null;
  const gone = error === undefined ? [] : [{ id: chosen, label: `Version ${chosen}`, disabled: true }];
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
          choices={[...gone, ...versionChoices(versions)]}
          onChange={(identityVersion = '') => change({ identityVersion })}
        />
      </Field>
      <Field
        label="Compare with"
        hint={otherVersion === null ? undefined : 'Both make the same request, with the same seed.'}
      >
        <Select
          none="No other version"
          value={String(otherVersion ?? '')}
          choices={versionChoices(othersThan(values, versions))}
          onChange={(other = '') => change({ otherVersion: other })}
        />
      </Field>
    </>
  );
}
