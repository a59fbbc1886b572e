import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Sheet, useApp } from '../state/app.ts';
import { Modal } from './modal.tsx';

// The search is a part of the conversation instead.
const sheets: Readonly<Record<Exclude<Sheet, 'search'>, ComponentType>> = {
  models: sheet(async () => (await import('../controls/pickers/models-sheet.tsx')).ModelsSheet),
  approvals: sheet(async () => (await import('../controls/pickers/approvals-sheet.tsx')).ApprovalsSheet),
  thinking: sheet(async () => (await import('../controls/pickers/thinking-sheet.tsx')).ThinkingSheet),
  shortcuts: sheet(async () => (await import('../controls/shortcuts/shortcuts-sheet.tsx')).ShortcutsSheet),
  credentials: sheet(async () => (await import('../welcome/key-form.tsx')).KeyForm),
  folders: sheet(async () => (await import('../folders/folder-sheet.tsx')).FolderSheet),
};

function sheet(load: () => Promise<ComponentType>): ComponentType {
  return lazy({ load, whileLoading: () => null, onError: LoadError });
}

/** Renders the open sheet. */
export function Sheets() {
  const sheet = useApp().sheet.value;
  const Open = sheet === undefined || sheet === 'search' ? undefined : sheets[sheet];
  return Open ? <Open /> : null;
}

interface LazyOptions<P> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly whileLoading: ComponentType<P>;
  readonly onError: ComponentType<P>;
}

/**
 * Wraps a component that is loaded after it was first rendered. A browser remembers a failed load, so only a reload of
 * the page retries it.
 */
export function lazy<P extends object = object>(options: LazyOptions<P>): ComponentType<P> {
  const { load, whileLoading: Loading, onError: Failed } = options;
  const found = signal<ComponentType<P> | undefined>(undefined);
  const hasFailed = signal(false);
  return function Lazy(props: P) {
    useEffect(() => {
      if (found.peek()) return;
      load().then(
        (component) => {
          found.value = component;
        },
        () => {
          hasFailed.value = true;
        },
      );
    }, []);
    const Found = found.value;
    if (Found) return <Found {...props} />;
    return hasFailed.value ? <Failed {...props} /> : <Loading {...props} />;
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
