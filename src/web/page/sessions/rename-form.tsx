import { useEffect, useRef } from 'preact/hooks';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { rename } from '../actions/sessions/rename.ts';
import { useApp } from '../state/app.ts';
import { nameOf } from '../state/list/groups.ts';
import { addressOf } from '../state/place.ts';

interface RenameFormProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** The name of a session as something to write in: Enter and leaving it save, Escape does not. */
export function RenameForm({ session, onClose }: RenameFormProps) {
  const app = useApp();
  const input = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  const before = nameOf(session);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const finish = ({ isSaved }: { isSaved: boolean }) => {
    if (isOver.current) return;
    isOver.current = true;
    const name = input.current?.value.trim() ?? '';
    const list = input.current?.closest('.session-list');
    const isHere = document.activeElement === input.current;
    const over = () => {
      onClose();
      // Whoever was in the field is at the session again.
      const link = `a[href="${addressOf({ kind: 'session', id: session.id })}"]`;
      if (isHere) requestAnimationFrame(() => list?.querySelector<HTMLElement>(link)?.focus());
    };
    if (isSaved && name !== '' && name !== before) void rename(app, session, name).then(over);
    else over();
  };
  return (
    <li class="session-row renamed">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          finish({ isSaved: true });
        }}
      >
        <input
          ref={input}
          aria-label={`New name for ${before}`}
          defaultValue={before}
          maxLength={200}
          onBlur={() => finish({ isSaved: true })}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            event.stopPropagation();
            finish({ isSaved: false });
          }}
        />
      </form>
    </li>
  );
}
