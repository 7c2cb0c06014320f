import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { useApi } from '@/api/api-context.ts';
import type { IdentityAnswer, LicenseAnswer } from '@/api/types.ts';
import { toBody, validate, type FieldName, type FormErrors, type FormValues } from './form-values.ts';
import { modeError, sendable, type Reference } from './references/reference.ts';
import type { Destination } from './references/uploads.ts';
import { waitSeconds } from './run-store.ts';
import { formStore, referenceStore, runStore, useFormValues, useReferences } from './stores.ts';
import { useStartRun } from './use-start-run.ts';

export interface Playground {
  license: LicenseAnswer;
  identities: IdentityAnswer[];
  values: FormValues;
  /** The chosen one. */
  identity: IdentityAnswer | undefined;
  /** Where reference images are uploaded. */
  uploadTo: Destination;
  /** Everything that is wrong, and what of it is to be shown yet. */
  errors: FormErrors;
  shownErrors: FormErrors;
  change: (change: Partial<FormValues>) => void;
  touch: (name: FieldName) => void;
  submit: () => void;
  tryAgain: () => void;
  form: RefObject<HTMLFormElement | null>;
}

/** What the parts of the screen share: form values, what is wrong with them, and sending them. */
export function usePlayground(license: LicenseAnswer, identities: IdentityAnswer[]): Playground {
  const api = useApi();
  const values = useFormValues();
  const { items } = useReferences();
  const identity = identities.find(({ id }) => id === values.identityId);
  const errors = useMemo(
    () => errorsOf(values, license, identity, items),
    [values, license, identity, items],
  );
  const { shownErrors, touch, reveal, forget } = useShownErrors(values, errors);
  const { form, toWhatIsWrong } = useFocusOnWrong();
  const startRun = useStartRun();
  const uploadTo = { api, licenseId: license.licenseId };

  const submit = (): void => {
    const { run, failure } = runStore.state();
    if (!license.usable || run !== null || waitSeconds(failure, Date.now()) > 0) return;
    const addressIsFine = identity?.productPhotos !== true || referenceStore.addTypedUrl();
    // Read anew, since an address may just have been added.
    const wrong = errorsOf(values, license, identity, referenceStore.state().items);
    if (!addressIsFine || Object.keys(wrong).length > 0) {
      reveal();
      toWhatIsWrong();
      return;
    }
    forget();
    const references = identity?.productPhotos ? referenceStore.clearProblems() : [];
    const body = toBody(values, license.licenseId, references.length > 0 ? [] : null);
    const identityName = identity?.name ?? '';
    startRun({ body, references, identityName, idempotencyKey: crypto.randomUUID() }, { upload: true });
  };
  const tryAgain = (): void => {
    const { failure } = runStore.state();
    // Whoever has changed the form since wants that tried; the same request keeps its key.
    const body = JSON.stringify(bodyNow(values, license, identity));
    if (failure !== null && JSON.stringify(failure.order.body) === body) startRun(failure.order);
    else submit();
  };
  const { change } = formStore;
  const shared = { license, identities, identity, uploadTo, values, errors, shownErrors, form };
  return { ...shared, change, touch, submit, tryAgain };
}

function errorsOf(
  values: FormValues,
  license: LicenseAnswer,
  identity: IdentityAnswer | undefined,
  items: readonly Reference[],
): FormErrors {
  const error = identity?.productPhotos ? modeError(values.referenceMode, items) : null;
  return { ...validate(values, license), ...(error !== null && { referenceMode: error }) };
}

/** What would be sent at once, or null while something has yet to be uploaded for it. */
function bodyNow(values: FormValues, license: LicenseAnswer, identity: IdentityAnswer | undefined) {
  const { items } = referenceStore.state();
  const used = identity?.productPhotos === true && sendable(items).length > 0;
  const references = used ? referenceStore.bodies(license.licenseId) : null;
  return used && references === null ? null : toBody(values, license.licenseId, references);
}

/** Goes to the first field that is wrong, once it is shown to be. */
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
  const shownErrors = useMemo(
    () =>
      Object.fromEntries(
        Object.entries(errors).filter(([name]) => isShown(name as FieldName, values, touched)),
      ),
    [errors, values, touched],
  );
  return {
    shownErrors,
    touch: (name: FieldName) => setTouched((now) => (now === 'all' ? now : new Set([...now, name]))),
    reveal: () => setTouched('all'),
    forget: () => setTouched(new Set()),
  };
}

/** Nobody is told what is missing before they were there; what is too long shows at once. */
function isShown(name: FieldName, values: FormValues, touched: ReadonlySet<FieldName> | 'all'): boolean {
  if (touched === 'all') return true;
  const text = values[name];
  const isPrompt = name === 'prompt' || name === 'negativePrompt';
  if (isPrompt) return typeof text === 'string' && text.trim() !== '';
  return touched.has(name);
}
