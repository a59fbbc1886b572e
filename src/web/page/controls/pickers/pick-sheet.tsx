import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { messageOf } from '../../../../protocol/errors.ts';
import { Modal } from '../../overlay/modal.tsx';
import { Picker, type PickerItem } from '../../overlay/picker.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { useRequest } from '../../state/use-request.ts';

interface PickSheetProps<T> {
  readonly title: string;
  readonly label: string;
  readonly hasSearch: boolean;
  readonly load: () => Promise<readonly T[]>;
  readonly itemOf: (one: T) => PickerItem;
  // Without it, items keep their order.
  readonly order?: ((one: T, other: T) => number) | undefined;
  readonly choose: (chosen: T, options: { readonly alsoForNew: boolean }) => Promise<unknown>;
  // Shown above the list.
  readonly children?: ComponentChildren;
  // Shown below the list, instead of the choice for new sessions.
  readonly below?: ComponentChildren;
}

/** Loads items, lets the user choose one, and closes when the agent has accepted it. */
export function PickSheet<T>(props: PickSheetProps<T>) {
  const { title, label, hasSearch, load, itemOf, order, choose, children, below } = props;
  const { sheet } = useApp();
  const session = useSession();
  const ownSheet = useRef(sheet.peek()).current;
  const { value: all, problem } = useRequest(load).value;
  const rejection = useSignal<string | undefined>(undefined);
  const alsoForNew = useSignal(false);
  const items = (order ? all?.toSorted(order) : all)?.map(itemOf) ?? (problem === undefined ? undefined : []);
  const shownProblem = rejection.value ?? problem;
  // The user may open another sheet before the response arrives.
  const isOpen = () => sheet.value === ownSheet;
  const close = () => {
    if (isOpen()) sheet.value = undefined;
  };
  const onError = (error: unknown) => {
    if (isOpen()) rejection.value = messageOf(error);
    else session.showError(error);
  };
  const pick = (id: string) => {
    const chosen = all?.find((one) => itemOf(one).id === id);
    if (chosen === undefined) return;
    session.track(() => choose(chosen, { alsoForNew: alsoForNew.value })).then(close, onError);
  };
  return (
    <Modal title={title} kind={hasSearch ? 'pick' : 'pick short'} onClose={close}>
      {children}
      {shownProblem !== undefined && (
        <p class="failure picker-note" role="alert">
          {shownProblem}
        </p>
      )}
      <Picker label={label} items={items} hasSearch={hasSearch} onChoose={pick} />
      {below ?? (
        <label class="for-new check">
          <input
            type="checkbox"
            checked={alsoForNew.value}
            onChange={(event) => {
              alsoForNew.value = event.currentTarget.checked;
            }}
          />
          Also for new sessions
        </label>
      )}
    </Modal>
  );
}
