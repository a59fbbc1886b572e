import { isToolName } from '../../agent/tool.ts';
import { isThinkingLevel } from '../../model/thinking-levels.ts';
import { schemaProblem } from '../../protocol/schema-problem.ts';
import { sessionNameFrom } from '../../store/sessions/session-name.ts';
import { blocks, plainCopy, saying } from './answers.ts';
import type { Bus } from './bus.ts';
import type { Extension } from './extension.ts';
import type { ExtensionAPI } from './extension-api.ts';
import type { ExtensionHost } from './host.ts';

const TOO_EARLY = 'Extension runtime not initialized. Action methods cannot be called during extension loading.';

export interface ApiParts {
  readonly host: ExtensionHost;
  readonly bus: Bus;
  /** Something was sent in its name that could not be delivered. */
  readonly onFailure: (event: string, error: unknown) => void;
}

/** The `pi` object of one extension. */
export function apiFor(extension: Extension, { host, bus, onFailure }: ApiParts): ExtensionAPI {
  /** What acts on the agent, which is there only once everything is loaded. */
  const acting = () => {
    if (!extension.isReady) throw new Error(TOO_EARLY);
    return host;
  };
  const whenReady = (tell: () => void) => {
    if (extension.isReady) tell();
  };
  const sent = (event: string, work: () => Promise<void> | void) => {
    void (async () => work())().catch((error: unknown) => onFailure(event, error));
  };
  return {
    on: (event, handler) => {
      if (typeof handler !== 'function') throw new TypeError(`The handler of ${event} is not a function`);
      const remove = extension.add(event, handler);
      whenReady(host.hooksChanged);
      return () => {
        remove();
        whenReady(host.hooksChanged);
      };
    },
    registerTool: (tool) => {
      checkTool(tool);
      extension.tools.set(tool.name, {
        ...tool,
        parameters: plainCopy(tool.parameters),
        execute: tool.execute.bind(tool),
      });
      whenReady(host.toolsChanged);
    },
    registerCommand: (name, command) => {
      if (typeof name !== 'string' || !/^\S+$/.test(name)) throw new TypeError('A command needs a name without blanks');
      if (typeof command?.handler !== 'function') throw new TypeError(`The command ${name} has no handler`);
      const { description } = command;
      extension.commands.set(name, {
        ...command,
        ...(description === undefined ? {} : { description: String(description) }),
      });
      whenReady(host.hooksChanged);
    },
    registerFlag: (name, flag) => void extension.flags.set(name, flag),
    getFlag: (name) => flagOf(extension, name, host),
    registerProvider: (name, config) => {
      // Until everything is loaded it is only noted down.
      const registered = extension.isReady ? host.register(name, config) : undefined;
      extension.providers.set(name, config);
      if (registered) sent('register_provider', () => registered);
    },
    unregisterProvider: (name) => {
      extension.providers.delete(name);
      whenReady(() => host.unregister(name));
    },
    sendMessage: (message, options = {}) => {
      const { say } = acting();
      checkManner(options.deliverAs, ['steer', 'followUp', 'nextTurn']);
      sent('send_message', () => say(saying(message), options));
    },
    sendUserMessage: (content, options = {}) => {
      const { prompt } = acting();
      checkManner(options.deliverAs, ['steer', 'followUp']);
      const said = typeof content === 'string' ? content : blocks('content', content);
      sent('send_user_message', () => prompt(said, options));
    },
    appendEntry: (customType, data) => {
      const { transcript } = acting().session();
      const copy = data === undefined ? {} : { data: plainCopy(data) };
      transcript.append({ type: 'custom', customType: String(customType), ...copy });
    },
    setSessionName: (name) => acting().setName(sessionNameFrom(name)),
    getSessionName: () => acting().session().transcript.name,
    setLabel: (entryId, label) => {
      acting()
        .session()
        .transcript.setLabel(entryId, label === undefined ? undefined : String(label));
    },
    exec: async (command, args, options = {}) => host.exec(command, args, options),
    getActiveTools: () => acting().toolbox.activeNames,
    getAllTools: () =>
      acting()
        .toolbox.describe()
        .map(({ name, description, parameters, source }) => {
          const sourceInfo = { path: `<${source}>`, source, scope: 'temporary', origin: 'top-level' };
          return { name, description, parameters, sourceInfo };
        }),
    setActiveTools: (names) => {
      const { toolbox, change } = acting();
      const known = new Set(toolbox.describe().map(({ name }) => name));
      change(() => toolbox.activate(names.filter((name) => known.has(name))));
    },
    getCommands: () => [...acting().commands()],
    getSettings: () => structuredClone(acting().project().settings),
    setModel: async ({ provider, id }) => {
      const { registry, setModel } = acting();
      const model = registry.find(provider, id);
      if (model) await setModel(model);
      return model !== undefined;
    },
    getThinkingLevel: () => acting().session().choice.thinkingLevel,
    setThinkingLevel: (level) => {
      if (!isThinkingLevel(level)) throw new TypeError(`Not a thinking level: ${String(level)}`);
      acting().setThinkingLevel(level);
    },
    events: { on: bus.on, emit: bus.emit },
    registerShortcut: () => {},
    registerMessageRenderer: () => {},
    registerEntryRenderer: () => {},
    registerToolRenderer: () => {},
    registerMarkdownTransformer: () => {},
  };
}

/** A manner that is none would let a message wait for ever. */
function checkManner(deliverAs: unknown, known: readonly string[]): void {
  if (deliverAs === undefined || known.includes(String(deliverAs))) return;
  throw new TypeError(`deliverAs must be one of ${known.join(', ')}, not ${String(deliverAs)}`);
}

/** Throws where a tool cannot be used. */
export function checkTool(tool: Parameters<ExtensionAPI['registerTool']>[0]): void {
  const { name, description, parameters, execute } = tool ?? {};
  if (!isToolName(name)) {
    throw new TypeError(`A tool needs a name of up to 64 letters, digits, - and _, not ${JSON.stringify(name)}`);
  }
  if (typeof description !== 'string') throw new TypeError(`The tool ${name} has no description`);
  if (typeof parameters !== 'object' || parameters === null) throw new TypeError(`The tool ${name} has no parameters`);
  const problem = schemaProblem(plainCopy(parameters), 'parameters');
  if (problem) throw new TypeError(`The parameters of the tool ${name} make no sense: ${problem}`);
  if (typeof execute !== 'function') throw new TypeError(`The tool ${name} has no execute function`);
}

/** What was said on the command line, else the default. */
function flagOf(extension: Extension, name: string, { flags }: ExtensionHost): boolean | string | undefined {
  const flag = extension.flags.get(name);
  if (!flag) return undefined;
  const said = flags.get(name);
  if (said === undefined) return flag.default;
  return flag.type === 'boolean' ? said !== 'false' : String(said);
}
