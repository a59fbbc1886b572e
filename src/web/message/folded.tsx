import { type ComponentChildren, createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';

/** Whether what is folded is in the page all the same, so that a search of the page finds it. */
export const WholePage = createContext(false);

/** What readers have folded and unfolded: a list that shows only what is in sight draws the same anew. */
const Choices = createContext(new WeakMap<object, boolean>());

interface FoldedProps {
  readonly kind?: string | undefined;
  readonly head: ComponentChildren;
  /** What it is about, by which a choice is remembered. */
  readonly of?: object | undefined;
  /** Whether it is open as long as nobody has folded it. */
  readonly matters?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** Something that can be unfolded. What was open once stays so until somebody folds it. */
export function Folded({ kind = '', head, of, matters = false, children }: FoldedProps) {
  const choices = useContext(Choices);
  const [chosen, setChosen] = useState(of && choices.get(of));
  const choose = (isOpen: boolean) => {
    setChosen(isOpen);
    if (of) choices.set(of, isOpen);
  };
  const isOpen = chosen ?? matters;
  const isWhole = useContext(WholePage);
  return (
    <details class={kind} open={isOpen} onToggle={({ currentTarget }) => choose(currentTarget.open)}>
      <summary>{head}</summary>
      {(isOpen || isWhole) && children}
    </details>
  );
}
