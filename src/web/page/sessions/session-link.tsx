import type { ComponentChildren } from 'preact';
import { useApp } from '../state/app.ts';
import { addressOf, type PageLocation } from '../state/page-location.ts';

interface SessionLinkProps {
  readonly id: string;
  readonly title?: string | undefined;
  readonly onKeyDown?: ((event: KeyboardEvent) => void) | undefined;
  readonly children: ComponentChildren;
}

/** A link to a session; modifier keys open it in another tab. */
export function SessionLink({ id, title, onKeyDown, children }: SessionLinkProps) {
  const app = useApp();
  const target: PageLocation = { kind: 'session', id };
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    app.goTo(target);
  };
  return (
    <a
      href={addressOf(target)}
      title={title}
      aria-current={id === app.sessionId.value ? 'page' : undefined}
      onClick={open}
      onKeyDown={onKeyDown}
    >
      {children}
    </a>
  );
}
