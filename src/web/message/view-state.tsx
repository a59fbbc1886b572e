import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo, useState } from 'preact/hooks';

interface ViewState {
  readonly values: Map<string, boolean>;
  readonly path: string;
}

const ViewState = createContext<ViewState>({ values: new Map(), path: '' });

/** The root of a subtree with its own view state. */
export function ViewRoot({ of, children }: { readonly of: object; readonly children: ComponentChildren }) {
  const state = useMemo(() => ({ values: new Map<string, boolean>(), path: '' }), [of]);
  return <ViewState.Provider value={state}>{children}</ViewState.Provider>;
}

/** A named scope. Its state survives while its content is replaced or not drawn. */
export function ViewScope({
  name,
  children,
}: {
  readonly name: string | number;
  readonly children: ComponentChildren;
}) {
  const { values, path } = useContext(ViewState);
  const state = useMemo(() => ({ values, path: `${path}/${name}` }), [values, path, name]);
  return <ViewState.Provider value={state}>{children}</ViewState.Provider>;
}

/** A stored boolean of this scope, undefined before the first call of the setter. */
export function useViewState(name: string): readonly [boolean | undefined, (value: boolean) => void] {
  const { values, path } = useContext(ViewState);
  const [, redraw] = useState({});
  const key = `${path}/${name}`;
  const setValue = (value: boolean) => {
    if (values.get(key) === value) return;
    values.set(key, value);
    redraw({});
  };
  return [values.get(key), setValue];
}
