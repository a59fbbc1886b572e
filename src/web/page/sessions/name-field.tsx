import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isComposing } from '../ime.ts';

/** Longer names are of no use in a list. */
const MAX_SESSION_NAME_CHARACTERS = 200;

interface NameFieldProps {
  readonly label: string;
  /** What the session is called so far. */
  readonly name: string;
  readonly onRename: (name: string) => void;
  readonly onClose: () => void;
  /** What has the focus after it where that is not what had it before. */
  readonly focusAfter?: (() => HTMLElement | null) | undefined;
}

/** The name of a session as something to write in: Enter and leaving it save, Escape does not. Nothing is waited for. */
export function NameField({ label, name: before, onRename, onClose, focusAfter }: NameFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const isFinished = useRef(false);
  const previous = useMemo(() => document.activeElement, []);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const finish = ({ isSaved }: { readonly isSaved: boolean }) => {
    // A field that goes loses the focus, too.
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
