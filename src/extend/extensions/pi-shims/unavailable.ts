/** A stand-in for a pi export that cannot work inside an agent: calls to it and its members throw. */
export function unavailable(name: string): object {
  const refuse = (): never => {
    throw new Error(`${name} is not available to extensions in tau`);
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
