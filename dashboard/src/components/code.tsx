import { useSyncExternalStore, type ReactNode } from 'react';
import { languages, sampleLanguages, type SampleLanguage } from '@/lib/code-samples.ts';
import { createChoice } from '@/lib/store.ts';
import { CopyButton } from './copy-button.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from './ui/tabs.tsx';

interface CodeBlockProps {
  code: string;
  /** What the code is, for screen readers and the copy button: `curl request`. */
  label: string;
}

export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <div className="relative flex min-w-0 flex-col rounded-lg border border-border bg-muted">
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="overflow-x-auto rounded-lg p-4 font-mono sm:pr-14 text-[0.8125rem] leading-6"
      >
        <code>{code}</code>
      </pre>
      {/* Beside the code where there is room, above it on phones. */}
      <div className="flex justify-end rounded-md bg-muted max-sm:order-first max-sm:border-b max-sm:border-border max-sm:px-2 max-sm:py-1 sm:absolute sm:top-2 sm:right-2">
        <CopyButton text={code} label={`Copy the ${label}`} iconOnly />
      </div>
    </div>
  );
}

interface CodeTabsProps {
  samples: Record<SampleLanguage, string>;
  /** What the code does: `the first image`. */
  label: string;
  /** A line below the code of a language: how to run it. */
  notes?: Partial<Record<SampleLanguage, ReactNode>>;
}

/** The same code in each language. A choice of language holds for all tabs of the page. */
export function CodeTabs({ samples, label, notes = {} }: CodeTabsProps) {
  const chosen = useSyncExternalStore(choice.subscribe, choice.get);
  const language = languages.find((name) => name === chosen) ?? 'curl';
  return (
    <Tabs value={language} onValueChange={choice.set}>
      <TabsList aria-label="Language">
        {languages.map((name) => (
          <TabsTrigger key={name} value={name}>
            {sampleLanguages[name]}
          </TabsTrigger>
        ))}
      </TabsList>
      {languages.map((name) => (
        // The code inside is focusable.
        <TabsContent key={name} value={name} tabIndex={-1} className="grid grid-cols-1 gap-2">
          <CodeBlock code={samples[name]} label={`${label} in ${sampleLanguages[name]}`} />
          {notes[name] !== undefined && <p className="text-xs text-muted-foreground">{notes[name]}</p>}
        </TabsContent>
      ))}
    </Tabs>
  );
}

const choice = createChoice('sample-language');
