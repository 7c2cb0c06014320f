import { useEffect, useRef, useState } from 'react';
import { useApi } from '@/api/client.ts';
import { useIdentity } from '@/api/queries.ts';
import type { IdentityAnswer, IdentityDetail, LicenseAnswer, StoredGeneration } from '@/lib/types.ts';
import { createRequiredContext } from '@/lib/required-context.ts';
import { fromStored } from './fill-form.ts';
import { toBody, validate, type FieldName, type FormErrors, type FormValues } from './form-values.ts';
import { modeError, sendable, type Reference } from './references/reference.ts';
import type { Destination } from './references/reference-store.ts';
import { mayGoOnAtMs } from './run-store.ts';
import {
  formStore,
  pairStore,
  referenceStore,
  runStore,
  useFormValues,
  usePairs,
  useReferences,
} from './stores.ts';
import { useStartRun } from './use-start-run.ts';
import { useSend } from './use-send.ts';
import { comparedWith, versionError } from './versions.ts';

/** The fields whose value is text. */
type TextFieldName = 'prompt' | 'negativePrompt' | 'width' | 'height' | 'steps' | 'guidance' | 'seed';

/** The state that the parts of the screen share. */
export const [PlaygroundContext, usePlayground] =
  createRequiredContext<ReturnType<typeof usePlaygroundState>>('PlaygroundContext');

export function usePlaygroundState(license: LicenseAnswer, identities: IdentityAnswer[]) {
  const api = useApi();
  const values = useFormValues();
  const { items } = useReferences();
  const identity = identities.find(({ id }) => id === values.identityId);
  const versions = useVersions(license, identity);
  const allowed = { license, identity, versions };
  const pair = usePair(values, allowed);
  const errors = errorsOf(values, allowed, items);
  const { shownErrors, touch, reveal, forget } = useShownErrors(values, errors);
  const { form, toWhatIsWrong } = useFocusOnWrong();
  const [startRun, send] = [useStartRun(), useSend()];
  /** Where reference images are uploaded. */
  const uploadTo: Destination = { api, licenseId: license.licenseId };

  const submit = (): void => {
    const { sending, failure } = runStore.state();
    if (!license.usable || sending !== null || mayGoOnAtMs(failure) > Date.now()) return;
    const addressIsFine = identity?.productPhotos !== true || referenceStore.addTypedUrl();
    // Checked again, because an address may just have been added.
    const wrong = errorsOf(values, allowed, referenceStore.state().items);
    if (!addressIsFine || Object.keys(wrong).length > 0) {
      reveal();
      toWhatIsWrong();
      return;
    }
    forget();
    const references = identity?.productPhotos ? referenceStore.clearProblems() : [];
    const body = toBody(values, license.licenseId, references.length > 0 ? [] : null);
    const identityName = identity?.name ?? '';
    void send({ body, references, identityName }, pair.otherVersion);
  };
  const tryAgain = (): void => {
    const { failure } = runStore.state();
    // A changed form is a new request. An unchanged one keeps its idempotency key.
    const body = JSON.stringify(bodyNow(values, license, identity));
    const isSame = failure !== null && JSON.stringify(failure.command.body) === body;
    if (isSame && pair.otherVersion === null) void startRun(failure.command);
    else submit();
  };
  /** Sends a request that failed once more, as a new one. */
  const repeat = (stored: StoredGeneration): void => {
    const { references, body } = runStore.sent(stored.id)?.command ?? {
      references: [],
      body: toBody(fromStored(stored), stored.licenseId),
    };
    const identityName = stored.identity.name;
    void send({ body, references, identityName });
  };
  const bind = bindTo(values, touch);
  const shared = { ...allowed, ...pair, identities, uploadTo, values, errors, shownErrors, form };
  return { ...shared, change: formStore.change, bind, submit, tryAgain, repeat };
}

/** @returns a function that answers the props of a control that is typed into */
function bindTo(values: FormValues, touch: (name: FieldName) => void) {
  return (name: TextFieldName) => ({
    name,
    value: values[name],
    onChange: ({ target }: { target: { value: string } }) =>
      formStore.change({
        [name]: target.value,
        ...((name === 'width' || name === 'height') && { customSize: true, isOwnSize: true }),
      }),
    onBlur: () => touch(name),
  });
}

/** Undefined until they are known. */
type Versions = IdentityDetail['versions'] | undefined;

function useVersions(license: LicenseAnswer, identity: IdentityAnswer | undefined): Versions {
  return useIdentity(identity?.id ?? '', license.licenseId, identity?.available === true).data?.versions;
}

interface Allowed {
  license: LicenseAnswer;
  identity: IdentityAnswer | undefined;
  versions: Versions;
}

/** The version to compare with, and whether the other one was accepted already: then this one alone is sent. */
function usePair(values: FormValues, { license, identity, versions }: Allowed) {
  const { items } = useReferences();
  usePairs();
  const otherVersion = comparedWith(values, versions);
  if (otherVersion === null) return { otherVersion, isHalfSent: false };
  const references = identity?.productPhotos ? sendable(items) : [];
  const body = toBody(values, license.licenseId, references.length > 0 ? [] : null);
  return { otherVersion, isHalfSent: pairStore.firstId({ body, references, otherVersion }) !== null };
}

function errorsOf(
  values: FormValues,
  { license, identity, versions }: Allowed,
  items: readonly Reference[],
): FormErrors {
  const ofMode = identity?.productPhotos ? modeError(values.referenceMode, items) : null;
  const ofVersion = versionError(values, versions);
  return {
    ...validate(values, license),
    ...(ofMode !== null && { referenceMode: ofMode }),
    ...(ofVersion !== null && { identityVersion: ofVersion }),
  };
}

/** The body that would be sent now. Null while a file is not uploaded yet. */
function bodyNow(values: FormValues, license: LicenseAnswer, identity: IdentityAnswer | undefined) {
  const { items } = referenceStore.state();
  const used = identity?.productPhotos === true && sendable(items).length > 0;
  const references = used ? referenceStore.bodies(license.licenseId) : null;
  return used && references === null ? null : toBody(values, license.licenseId, references);
}

/** Moves the focus to the first wrong field once its error is shown. */
function useFocusOnWrong() {
  const form = useRef<HTMLFormElement>(null);
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);
  return { form, toWhatIsWrong: () => setRefusals((count) => count + 1) };
}

function useShownErrors(values: FormValues, errors: FormErrors) {
  const [touched, setTouched] = useState<ReadonlySet<FieldName> | 'all'>(new Set());
  const shown = Object.entries(errors).filter(([name]) => isShown(name as FieldName, values, touched));
  return {
    shownErrors: Object.fromEntries(shown) as FormErrors,
    touch: (name: FieldName) => setTouched((now) => (now === 'all' ? now : new Set([...now, name]))),
    reveal: () => setTouched('all'),
    forget: () => setTouched(new Set()),
  };
}

/** A missing value is shown after its field was left; a text that is too long is shown at once. */
function isShown(name: FieldName, values: FormValues, touched: ReadonlySet<FieldName> | 'all'): boolean {
  if (touched === 'all' || name === 'identityVersion') return true;
  const text = values[name];
  const isPrompt = name === 'prompt' || name === 'negativePrompt';
  if (isPrompt) return typeof text === 'string' && text.trim() !== '';
  return touched.has(name);
}
