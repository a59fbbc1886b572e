type EditArguments = Readonly<Record<string, unknown>>;

/** The arguments of edit in their one form: models also give a single edit, the list as JSON, or no list at all. */
export function normalizeEditArguments(args: EditArguments): EditArguments {
  const { oldText, newText, ...rest } = args;
  const edits = toEditList(args['edits']);
  if (typeof oldText !== 'string' || typeof newText !== 'string') return { ...args, ...(edits ? { edits } : {}) };
  return { ...rest, edits: [...(edits ?? []), { oldText, newText }] };
}

function toEditList(edits: unknown): readonly unknown[] | undefined {
  if (typeof edits === 'string') return toEditList(parseJson(edits));
  if (Array.isArray(edits)) return edits;
  return typeof edits === 'object' && edits !== null ? [edits] : undefined;
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}
