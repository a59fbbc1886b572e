import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Place, useChoice } from './choices.tsx';

/** Whether what is folded is in the page all the same, so that a search of the page finds it. */
export const WholePage = createContext(false);

interface FoldedProps {
  readonly kind?: string | undefined;
  /** By which it is known what readers have chosen, where there are others of the kind. */
  readonly name?: string | undefined;
  readonly head: ComponentChildren;
  /** Whether it is open as long as nobody has folded it. */
  readonly matters?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** Something that can be unfolded. What was open once stays so until somebody folds it. */
export function Folded({ kind = '', name = kind, head, matters = false, children }: FoldedProps) {
  const [chosen, choose] = useChoice(name);
  const isOpen = chosen ?? matters;
  const isWhole = useContext(WholePage);
  return (
    <details class={kind} open={isOpen} onToggle={({ currentTarget }) => choose(currentTarget.open)}>
      <summary>{head}</summary>
      {(isOpen || isWhole) && <Place name={name}>{children}</Place>}
    </details>
  );
}
