import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { PlainText } from '../../code/plain-text.tsx';
import { rename } from '../actions/sessions/rename.ts';
import { useApp } from '../state/app.ts';

/** What the session is called. A double click, or the menu, lets it be called something else. */
export function Title({ isEditing }: { readonly isEditing: Signal<boolean> }) {
  const app = useApp();
  const title = app.title.value;
  if (isEditing.value) return <TitleField title={title} isEditing={isEditing} />;
  return (
    <h1
      title={title}
      onDblClick={() => {
        isEditing.value = app.may('prompt');
      }}
    >
      <PlainText text={title} />
    </h1>
  );
}

interface TitleFieldProps {
  readonly title: string;
  readonly isEditing: Signal<boolean>;
}

function TitleField({ title, isEditing }: TitleFieldProps) {
  const app = useApp();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const leave = () => {
    isEditing.value = false;
  };
  const keep = (event: Event) => {
    event.preventDefault();
    if (!isEditing.value) return;
    const name = field.current?.value ?? '';
    leave();
    if (name.trim() !== '' && name !== title) void rename(app, undefined, name.trim());
  };
  return (
    <form class="title-form" onSubmit={keep}>
      <input
        ref={field}
        type="text"
        aria-label="Name of the session"
        defaultValue={title}
        autocomplete="off"
        onBlur={keep}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          leave();
        }}
      />
    </form>
  );
}
