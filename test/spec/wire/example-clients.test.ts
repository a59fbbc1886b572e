import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bash, callTool, example } from '../../support/agent/extensions.ts';
import { type Home, newGate, newHome, scriptArgs, TAU } from '../../support/agent/test-agent.ts';
import { type RunningProgram, startProgram } from '../../support/processes/program.ts';
import { CTRL_C, CTRL_D, ENTER, startInTerminal } from '../../support/processes/terminal.ts';

const root = join(import.meta.dirname, '../../..');
const env = { TAU: `${process.execPath} ${TAU}`, JITI_FS_CACHE: 'false', PYTHONDONTWRITEBYTECODE: '1' };

/** The command line of a TypeScript example, with a scripted model. */
const program = (home: Home, name: string, script?: readonly object[]) => [
  process.execPath,
  join(root, 'node_modules/jiti/lib/jiti-cli.mjs'),
  example(name),
  ...scriptArgs(home, script),
];

/** Waits for this output, then types a line. */
async function typed({ waitForOutput, send }: RunningProgram, question: string, line: string) {
  await waitForOutput(question);
  send(`${line}\n`);
}

it('[V19] rpc-extension-ui answers every dialog of rpc-demo and shows its other UI requests', async () => {
  const home = newHome();
  const client = startProgram(home, program(home, 'rpc-extension-ui.ts', [bash(': sudo'), { text: 'It is done.' }]), {
    env,
  });
  await client.waitForOutput('[title] tau: rpc-demo');
  await client.waitForOutput('[status rpc-demo] ready');
  await client.waitForOutput('[widget rpc-demo] rpc-demo | /rpc-select');

  client.send('/rpc-select\n');
  await typed(client, '  3. blue\nnumber> ', '2');
  await typed(client, '[info] You said: "green"', '/rpc-confirm');
  await typed(client, 'Sure? It cannot be undone [y/n]> ', 'yes');
  await typed(client, '[info] You said: true', '/rpc-input');
  await typed(client, 'Your name? (type it here)> ', 'Ada Lovelace');
  await typed(client, '[info] You said: "Ada Lovelace"', '/rpc-editor');
  await typed(client, 'first line\nsecond line\none line instead> ', 'only line');
  await typed(client, '[info] You said: "only line"', '/rpc-prefill some words');
  await typed(client, '[editor] some words', 'be careful');
  await typed(client, 'Run this as root?\n  1. Allow\n  2. Block\nnumber> ', '1');
  await client.waitForOutput('It is done.\n[status rpc-demo] (cleared)\n[ok]');
  client.child.stdin?.end();

  const { code, stderr } = await client.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

it('[V19] rpc-extension-ui: an empty line cancels a dialog, and a dialog that timed out is dropped', async () => {
  const home = newHome();
  writeFileSync(
    join(home.root, 'hasty.ts'),
    `export default (pi) => {
      pi.registerCommand('hasty', { handler: async (_args, ctx) => {
        const [first, second] = await Promise.all([
          ctx.ui.input('Quick!', '', { timeout: Number(process.env.HASTE_MS) }),
          ctx.ui.confirm('Still', 'there?'),
        ]);
        ctx.ui.notify(JSON.stringify([first ?? null, second]));
      } });
      pi.registerCommand('broken', { handler: async () => { throw new Error('it is broken'); } });
    }`,
  );
  const clientArgs = [...program(home, 'rpc-extension-ui.ts', []), '-e', join(home.root, 'hasty.ts')];
  const client = startProgram(home, clientArgs, { env: { ...env, HASTE_MS: '10' } });
  client.send('/rpc-input\n');
  await typed(client, 'Your name? (type it here)> ', '');
  await typed(client, '[warning] You said: null', '/hasty');
  await client.waitForOutput('[too late: timeout]');
  await typed(client, 'Still there? [y/n]> ', 'y');
  await typed(client, '[info] [null,true]', '/broken');
  await client.waitForOutput('[failed] command: it is broken');
});

it('[V17] rpc-example: prints responses, tool calls and failures, and exits at the end of input', async () => {
  const home = newHome();
  const script = [bash('echo from a tool; exit 3'), { text: 'That went wrong.' }];
  const client = startProgram(home, program(home, 'rpc-example.ts', script), { env });

  await typed(client, '> ', 'go');
  await client.waitForOutput('[bash] {"command":"echo from a tool; exit 3"}\n[failed]');
  await client.waitForOutput('That went wrong.\n[ok]\n> ');
  client.child.stdin?.end();

  expect((await client.finished).code).toBe(0);
});

it('[V17] rpc-example: the end of input lets the run finish', async () => {
  const home = newHome();
  const gate = newGate();
  const client = startProgram(
    home,
    program(home, 'rpc-example.ts', [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'yes.' }] }]),
    { env },
  );
  await typed(client, '> ', 'go');
  await client.waitForOutput('Well, ');

  client.child.stdin?.end();
  gate.open();

  expect(await client.finished).toMatchObject({ code: 0, stdout: expect.stringContaining('Well, yes.\n[ok]') });
});

it('[V17] rpc-example: Ctrl+C aborts the run, or exits when idle', async () => {
  const home = newHome();
  const script = [{ steps: [{ text: 'Thinking' }, { stall: true }] }, { text: 'Steady.' }];
  const client = startInTerminal(home, program(home, 'rpc-example.ts', script), { env });
  await client.waitForScreen('>');
  client.type(`think${ENTER}`);
  await client.waitForScreen('Thinking');

  client.type(CTRL_C);
  await client.waitForScreen('[aborted]');
  client.type(`again${ENTER}`);
  await client.waitForScreen('Steady.\n[ok]');
  client.type(CTRL_C);

  expect((await client.finished).code).toBe(0);
});

it('[V17] rpc-example: text typed during a run steers it, and Ctrl+D exits', async () => {
  const home = newHome();
  const gate = newGate();
  const script = [{ steps: [{ text: 'One.' }, { await: gate.path }] }, { text: 'Two.' }];
  const client = startInTerminal(home, program(home, 'rpc-example.ts', script), { env });
  await client.waitForScreen('>');
  client.type(`count${ENTER}`);
  await client.waitForScreen('One.');
  client.type(`go on${ENTER}`);
  await client.waitForScreen('go on');
  gate.open();
  await client.waitForScreen('Two.');
  await client.waitForScreen('[ok]');
  client.type(CTRL_D);

  expect((await client.finished).code).toBe(0);
});

/** Runs a Python program with the client and parses its output as JSON. */
async function python(
  code: string,
  { script, more = {} }: { script?: readonly object[]; more?: Record<string, string> },
) {
  const home = newHome();
  const args = JSON.stringify(['--no-session', ...scriptArgs(home, script)]);
  const head = `
import json, os, signal, sys
sys.path.insert(0, ${JSON.stringify(example('python'))})
from tau_client import Tau, Refused
def tau(*args, **options):
    return Tau(*${args}, *args, program=os.environ["TAU"].split(" "), **options)
`;
  const {
    stdout,
    stderr,
    code: exit,
  } = await startProgram(home, ['python3', '-c', head + code], { env: { ...env, ...more } }).finished;
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  return JSON.parse(stdout);
}

it('[V16] the Python client sends prompts and receives events', async () => {
  const output = await python(
    `
received = []
with tau(on_event=lambda event: received.append(event["type"])) as t:
    texts = [t.ask("one"), t.ask("two")]
print(json.dumps([texts, received[0], received.count("agent_settled")]))
`,
    { script: [{ text: 'First.' }, { text: 'Second.' }] },
  );

  expect(output).toEqual([['First.', 'Second.'], 'ready', 2]);
});

it('[V16 H1] the Python client runs host tools; their exceptions become error results', async () => {
  const output = await python(
    `
def weather(city):
    if city == "Atlantis": raise ValueError("it is under water")
    return f"sunny in {city}"
schema = {"description": "The weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
with tau(tools={"weather": (schema, weather)}) as t:
    t.ask("how is it?")
    results = [m for m in t.call("get_messages")["messages"] if m["role"] == "toolResult"]
print(json.dumps([[m["content"][0]["text"], m["isError"]] for m in results]))
`,
    { script: [callTool('weather', { city: 'Rome' }), callTool('weather', { city: 'Atlantis' }), { text: 'Fine.' }] },
  );

  expect(output).toEqual([
    ['sunny in Rome', false],
    ['it is under water', true],
  ]);
});

it('[V16 X40] the Python client answers dialogs, and cancels them without a handler', async () => {
  const output = await python(
    `
notices = []
hear = lambda event: notices.append(event["message"]) if event.get("method") == "notify" else None
extension = ${JSON.stringify(example('extensions/rpc-demo.ts'))}
answers = {"select": "green", "confirm": True, "input": None, "editor": "words"}
with tau("-e", extension, on_event=hear, on_ui=lambda request: answers[request["method"]]) as t:
    for name in answers: t.ask("/rpc-" + name)
with tau("-e", extension, on_event=hear) as t:
    t.ask("/rpc-confirm")
print(json.dumps(sorted(notices)))
`,
    {},
  );

  expect(output).toEqual(['"green"', '"words"', 'false', 'null', 'true'].map((word) => 'You said: '.concat(word)));
});

it('[V16 E1] the Python client raises rejected commands, failed runs and a lost connection', async () => {
  const output = await python(
    `
outcomes = []
t = tau()
for attempt in [
    lambda: t.call("set_model", provider="nobody", modelId="none"),
    lambda: t.ask("go"),
    lambda: os.kill(t._process.pid, signal.SIGKILL) or t._process.wait() and t.ask("anybody?"),
]:
    try: attempt()
    except Refused as error: outcomes.append(["refused", error.code])
    except RuntimeError as error: outcomes.append(["failed", str(error)])
    except ConnectionError as error: outcomes.append(["gone"])
print(json.dumps(outcomes))
`,
    { script: [{ error: { status: 400, message: 'No.' } }] },
  );

  expect(output).toEqual([['refused', 'model_not_found'], ['failed', expect.stringContaining('No.')], ['gone']]);
});

it('[V16] the Python client detects during a run that the agent died', async () => {
  const output = await python(
    `
def hear(event):
    if event["type"] == "message_update": os.kill(t._process.pid, signal.SIGKILL)
t = tau(on_event=hear)
try: t.ask("go")
except ConnectionError as error: print(json.dumps(str(error)))
`,
    { script: [{ steps: [{ text: 'Well' }, { stall: true }] }] },
  );

  expect(output).toBe('the agent has gone');
});

it('[V16] chat.py runs a prompt with a host tool', async () => {
  const home = newHome();

  const { code, stdout, stderr } = await startProgram(home, ['python3', example('python/chat.py'), 'say', 'hello'], {
    env,
  }).finished;

  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
});

it('[V16 A121 A128] approvals.py allows a call with y, and denies one with a reason', async () => {
  const home = newHome();
  const program = `${env.TAU} ${scriptArgs(home, [
    callTool('write', { path: 'notes.txt', content: 'hello\u001B[2J' }),
    bash('touch made'),
    bash('touch unanswered'),
    { text: 'Well.' },
  ]).join(' ')}`;
  const client = startProgram(home, ['python3', example('python/approvals.py'), 'go'], {
    env: { ...env, TAU: program },
  });

  await typed(client, 'y to allow, or a reason against it> ', 'y');
  await typed(client, 'touch made', 'use make');
  await client.waitForOutput('touch unanswered');
  client.child.stdin?.end();

  const { code, stdout, stderr } = await client.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`Change this file?\n${join(home.cwd, 'notes.txt')}\n`);
  expect(stdout).not.toContain('\u001B');
  expect(stdout).toContain('[bash failed] The user did not allow this call: use make.');
  expect(stdout.endsWith('Well.\n')).toBe(true);
  expect(readdirSync(home.cwd)).toEqual(['notes.txt']);
});

it('the examples page lists every example', () => {
  const page = readFileSync(example('README.md'), 'utf8');

  for (const name of ['permission-gate', 'git-checkpoint', 'custom-tool', 'rpc-demo'])
    expect(page).toContain(`extensions/${name}.ts`);
  for (const name of [
    'rpc-extension-ui.ts',
    'rpc-example.ts',
    'python/chat.py',
    'python/approvals.py',
    'python/tau_client.py',
    'python/remote_session.py',
    'python/web_socket.py',
  ])
    expect(page).toContain(name);
});
