import { ChevronDown, Code } from 'lucide-react';
import { toast } from 'sonner';
import { languages, sampleLanguages, type SampleLanguage } from '@/lib/code-samples.ts';
import { Button, type ButtonProps } from './ui/button.tsx';
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuTrigger,
} from './ui/dropdown-menu.tsx';

interface CopyAsMenuProps extends Omit<ButtonProps, 'children' | 'onClick' | 'asChild' | 'pending'> {
  samples: Record<SampleLanguage, string>;
  /** What the person who copies has to know. */
  note?: string | undefined;
}

export function CopyAsMenu({ samples, note, ...props }: CopyAsMenuProps) {
  const copy = async (language: SampleLanguage): Promise<void> => {
    try {
      await navigator.clipboard.writeText(samples[language]);
      const needed = language === 'curl' ? '' : '; its first line installs the client';
      const sentence = `Copied as ${sampleLanguages[language]}. It reads your API key from IMAGE_API_KEY${needed}.`;
      toast.success(sentence, note === undefined ? {} : { description: note, duration: 8000 });
    } catch {
      toast.error('The browser did not allow copying.');
    }
  };
  return (
    <DropdownMenu modal={false}>
      <DropdownMenuTrigger asChild>
        <Button variant="outline" {...props} icon={Code}>
          Copy as
          <ChevronDown aria-hidden className="text-muted-foreground" />
        </Button>
      </DropdownMenuTrigger>
      <DropdownMenuContent align="end">
        {languages.map((language) => (
          <DropdownMenuItem key={language} onSelect={() => void copy(language)}>
            {sampleLanguages[language]}
          </DropdownMenuItem>
        ))}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
