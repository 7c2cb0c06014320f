import { ChevronDown } from 'lucide-react';
import { DropdownMenu as Primitive } from 'radix-ui';
import { useId } from 'react';
import type { IdentityAnswer } from '@/api/types.ts';
import { Badge } from '@/components/ui/badge.tsx';
import { Button } from '@/components/ui/button.tsx';
import {
  DropdownMenu,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuTrigger,
} from '@/components/ui/dropdown-menu.tsx';
import { Label } from '@/components/ui/label.tsx';
import { popupLooks } from '@/components/ui/popup-looks.ts';
import { cn } from '@/lib/cn.ts';
import type { Playground } from './use-playground.ts';

/** Identities with what they are for. Those without a model are told of, but can't be chosen. */
export function IdentityPicker({ playground }: { playground: Playground }) {
  const { values, identities, shownErrors, change } = playground;
  const id = useId();
  const chosen = identities.find((identity) => identity.id === values.identityId);
  const error = shownErrors.identityId;
  const choose = (identityId: string): void => {
    if (identities.some((identity) => identity.id === identityId && identity.available))
      change({ identityId });
  };
  return (
    <div className="grid min-w-0 grid-cols-1 gap-1">
      <Label id={`${id}-label`} htmlFor={id}>
        Identity
      </Label>
      <DropdownMenu modal={false}>
        <DropdownMenuTrigger asChild>
          <Button
            id={id}
            variant="outline"
            aria-labelledby={`${id}-label ${id}`}
            aria-describedby={error && `${id}-error`}
            aria-invalid={error ? true : undefined}
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
        {/* In its place in the page rather than in a portal: it belongs to the form. */}
        <Primitive.Content align="start" sideOffset={4} collisionPadding={8} className={listLooks}>
          <DropdownMenuRadioGroup value={values.identityId} onValueChange={choose}>
            {identities.map((identity) => (
              <IdentityItem key={identity.id} identity={identity} />
            ))}
          </DropdownMenuRadioGroup>
        </Primitive.Content>
      </DropdownMenu>
      {error && (
        <p id={`${id}-error`} className="text-xs leading-5 text-destructive">
          {error}
        </p>
      )}
    </div>
  );
}

const listLooks = cn(
  popupLooks,
  'max-h-(--radix-dropdown-menu-content-available-height) w-(--radix-dropdown-menu-trigger-width)',
);

/** One that is unavailable can still be reached by the keyboard, so that everybody learns why. */
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
    <span className="grid min-w-0 text-left leading-5 whitespace-normal">
      <span className="flex flex-wrap items-center gap-x-2">
        <span className="text-sm font-medium break-words">{name}</span>
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
      <span className="text-xs leading-5 text-muted-foreground">
        {available ? description : 'It has no active model right now. Come back later.'}
      </span>
    </span>
  );
}
