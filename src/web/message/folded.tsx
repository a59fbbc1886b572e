import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useViewState, ViewScope } from './view-state.tsx';

/** Whether folded content is in the DOM, so that the browser's search finds it. */
export const RenderFolded = createContext(false);

interface FoldedProps {
  readonly kind?: string | undefined;
  /** Key of the stored state, where several share one kind. */
  readonly name?: string | undefined;
  readonly head: ComponentChildren;
  /** Whether it is open until the user folds it. */
  readonly startsOpen?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** A section that can be folded; the user's choice is kept. */
export function Folded({ kind = '', name = kind, head, startsOpen = false, children }: FoldedProps) {
  const [stored, setStored] = useViewState(name);
  const isOpen = stored ?? startsOpen;
  const rendersFolded = useContext(RenderFolded);
  return (
    <details class={kind} open={isOpen} onToggle={({ currentTarget }) => setStored(currentTarget.open)}>
      <summary>{head}</summary>
      {(isOpen || rendersFolded) && <ViewScope name={name}>{children}</ViewScope>}
    </details>
  );
}
