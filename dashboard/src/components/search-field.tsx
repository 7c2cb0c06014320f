import { Search } from 'lucide-react';
import { useState, type ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';
import { Button } from './ui/button.tsx';
import { Input } from './ui/input.tsx';

interface SearchFieldProps extends ComponentProps<typeof Input> {
  /** What is searched now. */
  search: string;
  onSearch: (typed: string) => void;
}

/** Searches on Enter or the button, not while somebody types. */
export function SearchField({ search, onSearch, className, ...input }: SearchFieldProps) {
  const [typed, setTyped] = useState(search);
  return (
    <form
      className={cn('relative', className)}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(typed);
      }}
    >
      <Input
        type="search"
        enterKeyHint="search"
        {...input}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        className="pr-11"
      />
      <Button type="submit" label="Search" className="absolute top-1 right-1" icon={Search} />
    </form>
  );
}
