import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isComposing } from '../ime.ts';

const MAX_SESSION_NAME_CHARACTERS = 200;

interface NameFieldProps {
  readonly label: string;
  readonly name: string;
  readonly onRename: (name: string) => void;
  readonly onClose: () => void;
  // The element to focus afterwards; by default the previously focussed one.
  readonly focusAfter?: (() => HTMLElement | null) | undefined;
}

/** Edits the name of a session: Enter and blur save it, Escape does not. It does not wait for the server. */
export function NameField({ label, name: before, onRename, onClose, focusAfter }: NameFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const isFinished = useRef(false);
  const previous = useMemo(() => document.activeElement, []);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const finish = ({ isSaved }: { readonly isSaved: boolean }) => {
    // A removed field fires blur as well.
    if (isFinished.current) return;
    isFinished.current = true;
    const name = field.current?.value.trim() ?? '';
    const hadFocus = document.activeElement === field.current;
    onClose();
    if (isSaved && name !== '' && name !== before) onRename(name);
    if (hadFocus) requestAnimationFrame(() => (focusAfter?.() ?? (previous as HTMLElement | null))?.focus());
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        finish({ isSaved: true });
      }}
    >
      <input
        ref={field}
        type="text"
        aria-label={label}
        defaultValue={before}
        maxLength={MAX_SESSION_NAME_CHARACTERS}
        autocomplete="off"
        onBlur={() => finish({ isSaved: true })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || isComposing(event)) return;
          event.preventDefault();
          event.stopPropagation();
          finish({ isSaved: false });
        }}
      />
    </form>
  );
}
