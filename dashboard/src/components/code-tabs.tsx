import { useState } from 'react';
import { sampleLanguages, type SampleLanguage } from '@/lib/code-samples.ts';
import { recall, remember } from '@/lib/storage.ts';
import { CodeBlock } from './code-block.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from './ui/tabs.tsx';

const storageKey = 'sample-language';
const languages = Object.keys(sampleLanguages) as SampleLanguage[];

interface CodeTabsProps {
  samples: Record<SampleLanguage, string>;
  /** What the code does: `the first image`. */
  label: string;
}

/** The same code in each language; the one that was chosen last is shown everywhere. */
export function CodeTabs({ samples, label }: CodeTabsProps) {
  const [language, setLanguage] = useState(
    () => languages.find((name) => name === recall(storageKey)) ?? 'curl',
  );
  const choose = (value: string): void => {
    setLanguage(value as SampleLanguage);
    remember(storageKey, value);
  };
  return (
    <Tabs value={language} onValueChange={choose}>
      <TabsList aria-label="Language">
        {languages.map((name) => (
          <TabsTrigger key={name} value={name}>
            {sampleLanguages[name]}
          </TabsTrigger>
        ))}
      </TabsList>
      {languages.map((name) => (
        <TabsContent key={name} value={name}>
          <CodeBlock code={samples[name]} label={`${label} in ${sampleLanguages[name]}`} />
        </TabsContent>
      ))}
    </Tabs>
  );
}
