import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { useNavigate } from 'react-router';
import { toast } from 'sonner';
import { useApi } from '@/api/api-context.ts';
import { ApiError } from '@/api/api-error.ts';
import { useRefreshAfterGeneration } from '@/api/queries.ts';
import type { IdentityAnswer, LicenseAnswer } from '@/api/types.ts';
import { toBody, validate, type FieldName, type FormErrors, type FormValues } from './form-values.ts';
import { readyText } from './results.ts';
import { waitSeconds, type Order } from './run-store.ts';
import { formStore, runStore, useFormValues } from './stores.ts';

export interface Playground {
  license: LicenseAnswer;
  identities: IdentityAnswer[];
  values: FormValues;
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
  const values = useFormValues();
  const errors = useMemo(() => validate(values, license), [values, license]);
  const { touched, touch, reveal, forget } = useTouched();
  const form = useRef<HTMLFormElement>(null);
  const startRun = useStartRun();
  const shownErrors = useMemo(
    () =>
      Object.fromEntries(
        Object.entries(errors).filter(([name]) => isShown(name as FieldName, values, touched)),
      ),
    [errors, values, touched],
  );
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);

  const submit = (): void => {
    const { run, failure } = runStore.state();
    if (!license.usable || run !== null || waitSeconds(failure, Date.now()) > 0) return;
    if (Object.keys(errors).length > 0) {
      reveal();
      setRefusals((count) => count + 1);
      return;
    }
    forget();
    const identityName = identities.find(({ id }) => id === values.identityId)?.name ?? '';
    startRun({ body: toBody(values, license.licenseId), identityName, idempotencyKey: crypto.randomUUID() });
  };
  const tryAgain = (): void => {
    const { failure } = runStore.state();
    // Whoever has changed the form since wants that tried; the same request keeps its key.
    const body = JSON.stringify(toBody(values, license.licenseId));
    if (failure !== null && JSON.stringify(failure.order.body) === body) startRun(failure.order);
    else submit();
  };
  return {
    license,
    identities,
    values,
    errors,
    shownErrors,
    change: formStore.change,
    touch,
    submit,
    tryAgain,
    form,
  };
}

function useTouched() {
  const [touched, setTouched] = useState<ReadonlySet<FieldName> | 'all'>(new Set());
  return {
    touched,
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

function useStartRun(): (order: Order) => void {
  const api = useApi();
  const refresh = useRefreshAfterGeneration();
  const navigate = useNavigate();
  const action = { label: 'Show', onClick: () => void navigate('/playground') };
  return (order) => {
    void runStore.start(api, order, {
      onChange: () => void refresh(order.body.licenseId),
      onDone: (result) => {
        if (isElsewhere()) toast.success(readyText(result), { action, duration: 10_000 });
      },
      onFailed: (error) => {
        if (!isElsewhere()) return;
        const description = error instanceof ApiError ? error.message : undefined;
        toast.error('The playground could not make your image.', { action, description, duration: 10_000 });
      },
    });
  };
}

function isElsewhere(): boolean {
  return window.location.pathname !== '/playground';
}
