import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo, useState } from 'preact/hooks';

interface Here {
  /** What readers have chosen, by place and name. */
  readonly choices: Map<string, boolean>;
  readonly path: string;
}

const Here = createContext<Here>({ choices: new Map(), path: '' });

/** Places of their own: those within are not those of the same names elsewhere. */
export function Places({ of, children }: { readonly of: object; readonly children: ComponentChildren }) {
  const here = useMemo(() => ({ choices: new Map<string, boolean>(), path: '' }), [of]);
  return <Here.Provider value={here}>{children}</Here.Provider>;
}

/** A place whose name stays while what is drawn there is replaced, also when nothing is drawn there for a while. */
export function Place({ name, children }: { readonly name: string | number; readonly children: ComponentChildren }) {
  const { choices, path } = useContext(Here);
  const here = useMemo(() => ({ choices, path: `${path}/${name}` }), [choices, path, name]);
  return <Here.Provider value={here}>{children}</Here.Provider>;
}

/** What a reader has chosen here, undefined while nothing, and how to choose. */
export function useChoice(name: string): readonly [boolean | undefined, (choice: boolean) => void] {
  const { choices, path } = useContext(Here);
  const [, drawAgain] = useState({});
  const key = `${path}/${name}`;
  const choose = (choice: boolean) => {
    if (choices.get(key) === choice) return;
    choices.set(key, choice);
    drawAgain({});
  };
  return [choices.get(key), choose];
}
