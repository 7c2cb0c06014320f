import { ChevronDown } from 'lucide-react';
import { use } from 'react';
import type { IdentityAnswer } from '@/lib/types.ts';
import { Badge } from '@/components/ui/card.tsx';
import { Button } from '@/components/ui/button.tsx';
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuTrigger,
} from '@/components/ui/dropdown-menu.tsx';
import { IdentityPicture } from '@/components/pictures.tsx';
import { Field } from '@/components/field.tsx';
import { ControlContext } from '@/components/ui/input.tsx';
import { cn } from '@/lib/cn.ts';
import { usePlayground } from './use-playground.ts';

/** The identities with their descriptions. Those without a model are shown but can't be chosen. */
export function IdentityPicker() {
  const { shownErrors } = usePlayground();
  return (
    <Field label="Identity" error={shownErrors.identityId}>
      <IdentityMenu />
    </Field>
  );
}

function IdentityMenu() {
  const control = use(ControlContext);
  const { values, identities, identity: chosen, change } = usePlayground();
  const choose = (identityId: string): void => {
    if (identities.some((identity) => identity.id === identityId && identity.available))
      change({ identityId });
  };
  return (
    <DropdownMenu modal={false}>
      <DropdownMenuTrigger asChild>
        <Button
          {...control}
          variant="outline"
          aria-labelledby={`${control.id}-label ${control.id}`}
          className="h-auto min-h-14 w-full min-w-0 justify-between border-input px-3 py-2 font-normal aria-invalid:border-destructive"
        >
          {chosen === undefined ? (
            <span className="text-muted-foreground">Choose an identity</span>
          ) : (
            <IdentityText identity={chosen} />
          )}
          <ChevronDown aria-hidden className="text-muted-foreground" />
        </Button>
      </DropdownMenuTrigger>
      <DropdownMenuContent
        align="start"
        className="max-h-(--radix-dropdown-menu-content-available-height) w-(--radix-dropdown-menu-trigger-width)"
      >
        <DropdownMenuRadioGroup value={values.identityId} onValueChange={choose}>
          {identities.map((identity) => (
            <IdentityItem key={identity.id} identity={identity} />
          ))}
        </DropdownMenuRadioGroup>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

/** An unavailable identity can have the focus, so that everybody can read why. */
function IdentityItem({ identity }: { identity: IdentityAnswer }) {
  const { id, name, available } = identity;
  return (
    <DropdownMenuRadioItem
      value={id}
      textValue={name}
      className={cn('py-2', !available && 'cursor-not-allowed text-muted-foreground')}
      {...(!available && { 'aria-disabled': true, onSelect: (event) => event.preventDefault() })}
    >
      <IdentityText identity={identity} />
    </DropdownMenuRadioItem>
  );
}

function IdentityText({ identity }: { identity: IdentityAnswer }) {
  const { name, description, productPhotos, available } = identity;
  return (
    <span className="flex min-w-0 flex-1 items-start gap-3 text-left whitespace-normal">
      <IdentityPicture identity={identity} className="mt-0.5 size-12 rounded-md" />
      <span className="grid min-w-0 leading-5">
        <span className="flex flex-wrap items-center gap-x-2">
          <span dir="auto" className="text-sm font-medium break-words">
            {name}
          </span>
          {productPhotos && (
            <Badge variant="outline" className="h-5">
              Product photos
            </Badge>
          )}
          {!available && (
            <Badge variant="outline" className="h-5">
              Unavailable
            </Badge>
          )}
        </span>
        <span dir="auto" className="text-xs leading-5 text-muted-foreground">
          {available ? description : 'It has no active model right now. Come back later.'}
        </span>
      </span>
    </span>
  );
}
