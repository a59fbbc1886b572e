import type { Signal } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { renameSession } from '../actions/sessions/rename-session.ts';
import { NameField } from '../sessions/name-field.tsx';
import { useApp } from '../state/app.ts';

/** The title of the session. A double click, or the menu, edits it. */
export function Title({ isEditing }: { readonly isEditing: Signal<boolean> }) {
  const app = useApp();
  const title = app.title.value;
  if (isEditing.value)
    return (
      <NameField
        label="Name of the session"
        name={title}
        onRename={(name) => void renameSession(app, undefined, name)}
        onClose={() => {
          isEditing.value = false;
        }}
      />
    );
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
