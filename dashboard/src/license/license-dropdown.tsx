import type { MenuTrigger } from '@/components/lazy-menu.tsx';
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuLabel,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuTrigger,
} from '@/components/ui/dropdown-menu.tsx';
import { useLicenseChoice } from './license-choice.ts';
import { LicenseName } from './license-badge.tsx';

export default function LicenseDropdown({ trigger }: { trigger: MenuTrigger }) {
  const { license, licenses, select } = useLicenseChoice();
  return (
    <DropdownMenu modal={false} defaultOpen>
      <DropdownMenuTrigger asChild>{trigger}</DropdownMenuTrigger>
      <DropdownMenuContent align="start" className="max-h-96 w-72">
        <DropdownMenuLabel>License</DropdownMenuLabel>
        <DropdownMenuRadioGroup value={license?.licenseId ?? ''} onValueChange={select}>
          {licenses.map((item) => (
            <DropdownMenuRadioItem key={item.licenseId} value={item.licenseId} className="py-2">
              <LicenseName license={item} />
            </DropdownMenuRadioItem>
          ))}
        </DropdownMenuRadioGroup>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
