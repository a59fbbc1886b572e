// Converts a namespace imported by Node to the form that compiled code expects.
export function wrapNamespace(namespace: object): object {
  const exported = defaultExportOf(namespace);
  return new Proxy(namespace, {
    get(target, name) {
      if (name === '__esModule') return true;
      if (name === 'default') return exported;
      // Node does not detect every export of a CommonJS module.
      return name in target || name === 'then' ? Reflect.get(target, name) : (exported as Values | undefined)?.[name];
    },
  });
}

type Values = Readonly<Record<string | symbol, unknown>>;

// A transpiled ES module carries `__esModule`, and Node wraps its default export once more.
function defaultExportOf(namespace: object): unknown {
  const { default: exported, __esModule } = namespace as { default?: unknown; __esModule?: unknown };
  if (!('default' in namespace)) return namespace;
  const isWrapped = __esModule === true && typeof exported === 'object' && exported !== null && 'default' in exported;
  return isWrapped ? exported.default : exported;
}
