type Values = Record<string | symbol, unknown>;

/** A module with every name: `make` provides the missing ones. */
export function withPlaceholders(names: object, make: (name: string) => object): object {
  const known: Values = { __esModule: true, ...names };
  return new Proxy(known, {
    get(target, name, module) {
      if (name === 'default') return module;
      // An awaited module must not look like a promise.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      if (!Object.hasOwn(target, name)) target[name] = make(name);
      return target[name];
    },
  });
}

/** A placeholder that can be called, constructed and extended, and whose members are placeholders. It does nothing. */
export function placeholder(name: string): object {
  const statics: Values = {};
  // Neither a class nor an arrow function can be both called and constructed.
  // biome-ignore lint/complexity/useArrowFunction: see above
  const nothing = function () {};
  const methods = new Proxy({}, { get: (target, key) => Reflect.get(target, key) ?? noopMethod(key) });
  Object.defineProperties(nothing, { name: { value: name }, prototype: { value: methods } });
  return new Proxy(nothing, {
    get(target, key) {
      if (Reflect.has(target, key) || typeof key === 'symbol' || key === 'then') return Reflect.get(target, key);
      statics[key] ??= placeholder(key);
      return statics[key];
    },
  });
}

// Names with a meaning to the language stay absent.
function noopMethod(key: string | symbol): (() => undefined) | undefined {
  return typeof key === 'symbol' || key === 'then' || key === 'toJSON' ? undefined : () => undefined;
}

/** A stand-in for a pi export that tau lacks: calls to it and its members throw an error with its name. */
export function unavailable(name: string, reason = `${name} is not available to extensions in tau`): object {
  const refuse = (): never => {
    throw new Error(reason);
  };
  // biome-ignore lint/complexity/useArrowFunction: an arrow function could not be extended
  const target = function () {};
  return new Proxy(target, {
    apply: refuse,
    construct: refuse,
    get(_target, key) {
      if (typeof key === 'symbol' || key === 'then' || Reflect.has(target, key)) return Reflect.get(target, key);
      return refuse;
    },
  });
}
