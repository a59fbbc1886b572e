type Values = Record<string | symbol, unknown>;

/** A module that has every name: those that it lacks do nothing. */
export function withPlaceholders(names: object): object {
  const known: Values = { __esModule: true, ...names };
  return new Proxy(known, {
    get(target, name, module) {
      if (name === 'default') return module;
      // Whoever awaits the module must not take it for a promise.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      if (!Object.hasOwn(target, name)) target[name] = placeholder(name);
      return target[name];
    },
  });
}

/** Something that can be called, constructed and extended, and that does nothing. So does whatever hangs on it. */
export function placeholder(name: string): object {
  const statics: Values = {};
  // A class could not be called, an arrow function not be constructed.
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

/** Methods that a parent is asked for. What has a meaning to the language itself stays absent. */
function noopMethod(key: string | symbol): (() => undefined) | undefined {
  return typeof key === 'symbol' || key === 'then' || key === 'toJSON' ? undefined : () => undefined;
}
