import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { Modal } from './modal.tsx';

// Wraps a component that is imported when it is first rendered.
export function lazy(fetch: () => Promise<ComponentType>): ComponentType {
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
