import { BookOpen, CreditCard, LogOut, Monitor, Moon, Settings, Sun } from 'lucide-react';
import { Link } from 'react-router';
import { useAccount, useSession } from '@/auth/session.ts';
import type { MenuTrigger } from '@/components/lazy-menu.tsx';
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from '@/components/ui/dropdown-menu.tsx';
import { useConfig } from '@/lib/config.ts';
import { setTheme, themes, useTheme } from '@/lib/theme.ts';
import { ReferenceLink } from './reference-link.tsx';

const themeOptions = {
  system: { label: 'System', icon: Monitor },
  light: { label: 'Light', icon: Sun },
  dark: { label: 'Dark', icon: Moon },
} as const;

export default function AccountDropdown({ trigger }: { trigger: MenuTrigger }) {
  const session = useSession();
  const email = useAccount()?.email ?? 'Your account';
  const theme = useTheme();
  return (
    <DropdownMenu modal={false} defaultOpen>
      <DropdownMenuTrigger asChild>{trigger}</DropdownMenuTrigger>
      <DropdownMenuContent align="start" className="w-52">
        <DropdownMenuLabel className="truncate">{email}</DropdownMenuLabel>
        <DropdownMenuSeparator />
        <DropdownMenuLabel>Theme</DropdownMenuLabel>
        <DropdownMenuRadioGroup aria-label="Theme" value={theme} onValueChange={setTheme}>
          {themes.map((name) => {
            const { label, icon: Icon } = themeOptions[name];
            return (
              <DropdownMenuRadioItem key={name} value={name}>
                <Icon aria-hidden />
                {label}
              </DropdownMenuRadioItem>
            );
          })}
        </DropdownMenuRadioGroup>
        <DropdownMenuSeparator />
        <AccountLinks />
        {/* The sidebar has this link on wide screens. */}
        <DropdownMenuItem asChild className="lg:hidden">
          <ReferenceLink near>
            <BookOpen aria-hidden />
            API reference
          </ReferenceLink>
        </DropdownMenuItem>
        <DropdownMenuItem onSelect={() => void session.signOut()}>
          <LogOut aria-hidden />
          Sign out
        </DropdownMenuItem>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

function AccountLinks() {
  const { billingPortalUrl } = useConfig();
  return (
    <>
      <DropdownMenuItem asChild>
        <Link to="/account">
          <Settings aria-hidden />
          Account
        </Link>
      </DropdownMenuItem>
      {billingPortalUrl && (
        <DropdownMenuItem asChild>
          <a href={billingPortalUrl} target="_blank" rel="noopener">
            <CreditCard aria-hidden />
            Billing
            <span className="sr-only"> (new tab)</span>
          </a>
        </DropdownMenuItem>
      )}
    </>
  );
}
