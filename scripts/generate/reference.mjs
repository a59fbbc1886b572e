// Generates docs/protocol.md from the tables.
import { definitionsOf, isOptional } from './json-schema.mjs';
import { declaration, objectType, typeOf } from './typescript.mjs';

const groups = {
  prompting: ['prompt', 'Prompts and queue'],
  runs: ['abort', 'Runs, compaction and retry'],
  connection: ['hello', 'Handshake and ping'],
  sessions: ['new_session', 'Sessions and state'],
  models: ['set_model', 'Models and thinking'],
  tools: ['bash', 'Bash, tools, MCP servers and todos'],
};

export function reference(tables) {
  const eventNames = new Set(Object.values(tables.events).map((row) => row.schema.$id));
  const shapes = [...definitionsOf(tables)].filter(([name]) => !eventNames.has(name));
  return `# Protocol reference

Generated from the tables in \`src/protocol\` by \`npm run generate\`; [schema.json](schema.json) says the same to machines,
[spec.md](spec.md) says how it behaves.

One JSON object per line, LF-terminated UTF-8. A client sends commands and frames; tau sends one response per command, and
events. Every command takes an optional \`id\`, echoed in its response as it came.

\`\`\`json
{"id":"1","type":"response","command":"get_state","success":true,"data":{}}
{"id":"2","type":"response","command":"set_model","success":false,"error":"Model not found: a/b","code":"model_not_found"}
\`\`\`

Error codes: ${tables.errorCodes.map((code) => `\`${code}\``).join(', ')}. Any command may answer \`invalid_params\`,
\`not_supported\`, \`overloaded\` or \`internal\`; the codes listed with a command are its own. \`session_in_use\` comes with
\`"holder":{"pid":…}\`.

**Lanes.** \`control\` overtakes everything; \`read\` is answered at once; \`session\` commands run in order, one at a time;
\`bash\` commands run side by side. **Scopes** say what a remote token must hold.

## Commands
${commandSections(tables).join('\n')}
## Frames a client sends
Frames get no response.

${Object.entries(tables.frames)
  .map(([name, row]) => `### ${name}\n${row.doc}\n${fence(objectType(row.schema.properties))}`)
  .join('\n')}
## Events
${Object.entries(tables.events)
  .map(([name, row]) => `### ${name}\n${row.doc}\n${fence(typeOf(row.schema, 0, { top: true }))}`)
  .join('\n')}
## Shapes
${shapes.map(([name, schema]) => fence(declaration(name, schema).trimEnd())).join('\n')}`;
}

function commandSections(tables) {
  return Object.entries(tables.commands).map(([name, row]) => {
    const title = Object.values(groups).find(([first]) => first === name);
    const heading = title ? `\n### ${title[1]}\n\n` : '';
    const params = Object.entries(row.params).map(
      ([field, schema]) =>
        `| \`${field}\`${isOptional(schema) ? '' : ' (required)'} | \`${cell(typeOf(schema))}\` | ${schema.$id ? '' : (schema.description ?? '')} |\n`,
    );
    const table = params.length === 0 ? '' : `\n| parameter | type | |\n|---|---|---|\n${params.join('')}`;
    const result = row.result ? `\nAnswers\n${fence(typeOf(row.result))}` : '';
    const fails = row.fails.length === 0 ? '' : ` · fails ${row.fails.map((code) => `\`${code}\``).join(', ')}`;
    const scopes = row.returnsContent ? `scopes \`${row.scope}\` and \`view\`` : `scope \`${row.scope}\``;
    return `${heading}#### ${name}\n${row.doc}\n\nlane \`${row.lane}\` · ${scopes}${fails}\n${table}${result}`;
  });
}

/** A type on one line, as a table needs it. */
const cell = (type) =>
  type
    .replaceAll(/\/\*\*.*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|');

const fence = (code) => `\`\`\`ts\n${code}\n\`\`\`\n`;
