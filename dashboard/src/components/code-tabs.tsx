import { useSyncExternalStore, type ReactNode } from 'react';
import { sampleLanguages, type SampleLanguage } from '@/lib/code-samples.ts';
import { recall, remember } from '@/lib/storage.ts';
import { CodeBlock } from './code-block.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from './ui/tabs.tsx';

const languages = Object.keys(sampleLanguages) as SampleLanguage[];

interface CodeTabsProps {
  samples: Record<SampleLanguage, string>;
  /** What the code does: `the first image`. */
  label: string;
  /** A line below the code of a language: how to run it. */
  notes?: Partial<Record<SampleLanguage, ReactNode>>;
}

/** The same code in each language; the one that was chosen last is shown everywhere. */
export function CodeTabs({ samples, label, notes = {} }: CodeTabsProps) {
  const language = useSyncExternalStore(subscribe, chosenLanguage);
  return (
    <Tabs value={language} onValueChange={(value) => choose(value as SampleLanguage)}>
      <TabsList aria-label="Language">
        {languages.map((name) => (
          <TabsTrigger key={name} value={name}>
            {sampleLanguages[name]}
          </TabsTrigger>
        ))}
      </TabsList>
      {languages.map((name) => (
        // The code inside takes the focus itself.
        <TabsContent key={name} value={name} tabIndex={-1} className="grid grid-cols-1 gap-2">
          <CodeBlock code={samples[name]} label={`${label} in ${sampleLanguages[name]}`} />
          {notes[name] !== undefined && <p className="text-xs text-muted-foreground">{notes[name]}</p>}
        </TabsContent>
      ))}
    </Tabs>
  );
}

const storageKey = 'sample-language';
const listeners = new Set<() => void>();
let chosen: SampleLanguage | null = null;

function chosenLanguage(): SampleLanguage {
  chosen ??= languages.find((name) => name === recall(storageKey)) ?? 'curl';
  return chosen;
}

function choose(language: SampleLanguage): void {
  chosen = language;
  remember(storageKey, language);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
