import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Sheet, useApp } from '../state/app.ts';
import { Modal } from './modal.tsx';

// The search is a part of the conversation instead.
const sheets: Readonly<Record<Exclude<Sheet, 'search'>, ComponentType>> = {
  models: lazy(async () => (await import('../controls/pickers/models-sheet.tsx')).ModelsSheet),
  thinking: lazy(async () => (await import('../controls/pickers/thinking-sheet.tsx')).ThinkingSheet),
  shortcuts: lazy(async () => (await import('../controls/shortcuts/shortcuts-sheet.tsx')).ShortcutsSheet),
  credentials: lazy(async () => (await import('../welcome/key-form.tsx')).KeyForm),
  folders: lazy(async () => (await import('../folders/folder-sheet.tsx')).FolderSheet),
};

/** Renders the open sheet. */
export function Sheets() {
  const sheet = useApp().sheet.value;
  const Open = sheet === undefined || sheet === 'search' ? undefined : sheets[sheet];
  return Open ? <Open /> : null;
}

// Wraps a component that is imported when it is first rendered.
function lazy(fetch: () => Promise<ComponentType>): ComponentType {
  const found = signal<ComponentType | undefined>(undefined);
  const hasFailed = signal(false);
  return function Lazy() {
    useEffect(() => {
      if (found.peek()) return;
      hasFailed.value = false;
      fetch().then(
        (component) => {
          found.value = component;
        },
        () => {
          hasFailed.value = true;
        },
      );
    }, []);
    const Found = found.value;
    if (Found) return <Found />;
    return hasFailed.value ? <LoadError /> : null;
  };
}

/** The server may be down, or have another version of the page. */
function LoadError() {
  const { sheet } = useApp();
  const close = () => {
    sheet.value = undefined;
  };
  return (
    <Modal title="This could not be loaded" onClose={close}>
      <div class="modal-body">
        <p>The server does not answer, or has another version of the page by now.</p>
        <button type="button" class="main" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </Modal>
  );
}
