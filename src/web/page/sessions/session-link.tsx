import type { ComponentChildren } from 'preact';
import { useApp } from '../state/app.ts';
import { addressOf, type Place } from '../state/place.ts';

interface SessionLinkProps {
  readonly id: string;
  readonly title?: string | undefined;
  readonly onKeyDown?: ((event: KeyboardEvent) => void) | undefined;
  readonly children: ComponentChildren;
}

/** Leads to a session: here, or in another tab for those who want one. */
export function SessionLink({ id, title, onKeyDown, children }: SessionLinkProps) {
  const app = useApp();
  const place: Place = { kind: 'session', id };
  const visit = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    app.go(place);
  };
  return (
    <a
      href={addressOf(place)}
      title={title}
      aria-current={id === app.sessionId.value ? 'page' : undefined}
      onClick={visit}
      onKeyDown={onKeyDown}
    >
      {children}
    </a>
  );
}
