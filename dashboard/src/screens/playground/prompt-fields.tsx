import { Field } from '@/components/field.tsx';
import { Textarea } from '@/components/ui/textarea.tsx';
import { formatNumber } from '@/lib/format.ts';
import { codePoints, negativePromptLimit, promptLimit } from './form-values.ts';
import type { Playground } from './use-playground.ts';

export function PromptField({ playground }: { playground: Playground }) {
  const { values, shownErrors, change, touch } = playground;
  return (
    <Field
      label="Prompt"
      error={shownErrors.prompt}
      aside={<Counter text={values.prompt} limit={promptLimit} />}
    >
      {(control) => (
        <Textarea
          {...control}
          name="prompt"
          required
          rows={4}
          placeholder="What should the image show?"
          value={values.prompt}
          onChange={({ target }) => change({ prompt: target.value })}
          onBlur={() => touch('prompt')}
          className="max-h-80 min-h-28"
        />
      )}
    </Field>
  );
}

export function NegativePromptField({ playground }: { playground: Playground }) {
  const { values, shownErrors, change } = playground;
  return (
    <Field
      label="Negative prompt"
      hint="What the image should not show."
      error={shownErrors.negativePrompt}
      aside={<Counter text={values.negativePrompt} limit={negativePromptLimit} />}
    >
      {(control) => (
        <Textarea
          {...control}
          name="negativePrompt"
          rows={2}
          value={values.negativePrompt}
          onChange={({ target }) => change({ negativePrompt: target.value })}
          className="max-h-60 min-h-16"
        />
      )}
    </Field>
  );
}

function Counter({ text, limit }: { text: string; limit: number }) {
  const count = codePoints(text);
  return (
    <span className={count > limit ? 'font-medium text-destructive' : undefined}>
      {formatNumber(count)} / {formatNumber(limit)}
    </span>
  );
}
