import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schema } from '../../../src/protocol/check.ts';
import { assistantMessage, entry } from '../sessions/stored-session.ts';

/** Texts that have executed, loaded or broken something in web pages. */
export const hostileTexts = [
  '<script>hacked=1</script>',
  '</script><script>hacked=1</script>',
  '</ScRiPt ><img src=x onerror=hacked=1>',
  '<!--<script>',
  '--><svg onload=hacked=1>',
  ']]><script>hacked=1</script>',
  '<img src=x onerror="hacked=1">',
  `"'><img src=x onerror=hacked=1>`,
  '" onmouseover="hacked=1" x="',
  '<svg/onload=hacked=1>',
  '<iframe src="javascript:parent.hacked=1"></iframe>',
  '<iframe srcdoc="<script>parent.hacked=1</script>">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<base href="https://evil.example/">',
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<style>@import "https://evil.example/x.css";</style>',
  '<form action="https://evil.example"><button autofocus onfocus=hacked=1>',
  '<a href="javascript:hacked=1">click</a>',
  '[click](javascript:hacked=1)',
  '[click](https://evil.example/"onclick="hacked=1)',
  '![pixel](https://evil.example/pixel.png)',
  '<https://evil.example/?x="onerror=hacked=1>',
  '```js"><script>hacked=1</script>\n</code></pre><script>hacked=1</script>\n```',
  '`</code><script>hacked=1</script>`',
  '| <script>hacked=1</script> | b |\n|---|---|\n| <img src=x onerror=hacked=1> | c |',
  'javascript:hacked=1',
  'data:text/html,<script>hacked=1</script>',
  'url(https://evil.example/x.png)',
  '{{constructor.constructor("hacked=1")()}}',
  '$' + '{hacked=1}',
  '__proto__',
  'constructor',
  '\u2028hacked=1\u2029',
  '\u202egnp.exe\u202c \u2066hidden\u2069 \u200b\ufeff',
  '\u0000\u0001\u0008\u001b[31mred\u001b]0;title\u0007\u007f\u009b',
  '\ud800 half a letter \udc00',
  '%SESSION%',
  '<!-- session -->',
  '*'.repeat(5000),
  '['.repeat(5000),
  '`'.repeat(5001),
  '> '.repeat(3000),
  `${'- '.repeat(2000)}x`,
  '_a'.repeat(3000),
  '![](('.repeat(1000),
  '<'.repeat(5000),
  'x'.repeat(50_000),
];

/** Puts each text into every field of every kind of entry, in one long branch. */
export function hostileEntries(): object[] {
  const entries: object[] = [];
  let parentId: string | null = null;
  for (const text of hostileTexts) {
    for (const [kind, fields] of [...hostileEntriesOfEveryKind(text), ...hostileToolCalls(text)].entries()) {
      const id: string = `${text}#${kind}`;
      entries.push({ ...fields, id, parentId });
      parentId = id;
    }
  }
  return entries;
}

/** Every kind of entry in the protocol, with this text in all string fields. */
function hostileEntriesOfEveryKind(text: string): object[] {
  return kindsOf('SessionEntry').flatMap((kind) => {
    const fields = fillSchema(kind, text) as Record<string, unknown>;
    if (!('message' in fields)) return [fields];
    return kindsOf('AgentMessage').map((message) => ({ ...fields, message: fillSchema(message, text) }));
  });
}

function hostileToolCalls(text: string): object[] {
  const args = {
    command: text,
    path: text,
    pattern: text,
    content: text,
    edits: [{ oldText: text, newText: `${text}.` }],
    [text]: text,
  };
  const phases = [{ id: text, name: text, tasks: [{ id: text, content: text, status: text }] }];
  return ['bash', 'read', 'write', 'edit', 'grep', 'find', 'ls', 'todo', text].flatMap((name, at) => {
    const id = `${text}${at}`;
    const result = {
      role: 'toolResult',
      toolCallId: id,
      toolName: name,
      content: [{ type: 'text', text: name === 'grep' ? `${text}:1: ${text}` : text }],
      details: at % 2 === 0 ? { patch: text, phases } : { diff: `-${text}\n+${text}.`, phases },
      isError: at % 2 === 0,
      timestamp: 1,
    };
    return [
      entry('message', '', null, {
        message: assistantMessage({ content: [{ type: 'toolCall', id, name, arguments: args }] }),
      }),
      entry('message', '', null, { message: result }),
    ];
  });
}

const { $defs } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs/schema.json'), 'utf8')) as {
  $defs: Record<string, Schema>;
};

const kindsOf = (name: string): readonly Schema[] => ($defs[name]?.anyOf ?? []).map(resolveReference);

const resolveReference = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolveReference($defs[schema.$ref.replace('#/$defs/', '')] ?? {});

function fillSchema(given: Schema, text: string): unknown {
  const schema = resolveReference(given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf)
    return fillSchema(schema.anyOf.findLast((kind) => resolveReference(kind).type !== 'null') ?? {}, text);
  switch (schema.type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return (resolveReference(schema.items ?? {}).anyOf ?? [schema.items ?? {}]).map((kind) => fillSchema(kind, text));
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, kind]) => [name, fillSchema(kind, text)]),
      );
    default:
      return { [text]: text };
  }
}
