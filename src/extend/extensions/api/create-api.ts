import { isToolName } from '../../../agent/tool.ts';
import type { Toolbox } from '../../../agent/toolbox.ts';
import type { Router } from '../../../model/registry/virtual-models.ts';
import { isThinkingLevel } from '../../../model/thinking-levels.ts';
import { schemaProblem } from '../../../protocol/schema-problem.ts';
import { sessionNameFrom } from '../../../store/sessions/session-name.ts';
import type { Settings } from '../../../store/settings.ts';
import type { EventName } from '../events.ts';
import type { Extension } from '../extension.ts';
import type { ExtensionAPI, ExtensionHandler, ExtensionVirtualModel, ToolListing } from '../extension-api.ts';
import { parseCustomMessage, plainCopy, toBlocks } from '../hooks/validate-results.ts';
import type { ExtensionHost } from '../host.ts';
import { isProviderObject, type ProviderObject, providerConfigOf } from './provider-object.ts';

const NOT_READY = 'Extension runtime not initialized. Action methods cannot be called during extension loading.';

export interface ApiDependencies {
  readonly host: ExtensionHost;
  readonly events: ExtensionAPI['events'];
  /** Makes the route function of an extension a router of the registry. */
  readonly router: (path: string, route: ExtensionVirtualModel['route']) => Router;
  /** Reports a message or provider that failed after the call had returned. */
  readonly onFailure: (event: string, error: unknown) => void;
}

/** Creates the `pi` object of one extension. */
export function createApi(extension: Extension, { host, events, router, onFailure }: ApiDependencies): ExtensionAPI {
  /** The agent; throws while extensions are still loading. */
  const readyHost = () => {
    if (!extension.isReady) throw new Error(NOT_READY);
    return host;
  };
  const ifReady = (action: () => void) => {
    if (extension.isReady) action();
  };
  const runInBackground = (event: string, work: () => Promise<void> | void) => {
    void (async () => work())().catch((error: unknown) => onFailure(event, error));
  };
  return {
    on: <E extends EventName>(event: E, handler: ExtensionHandler<E>) => {
      if (typeof handler !== 'function') throw new TypeError(`The handler of ${event} is not a function`);
      const remove = extension.addHandler(event, handler);
      ifReady(host.hooksChanged);
      return () => {
        remove();
        ifReady(host.hooksChanged);
      };
    },
    registerTool: (tool) => {
      checkTool(tool);
      extension.tools.set(tool.name, {
        ...tool,
        parameters: plainCopy(tool.parameters),
        execute: tool.execute.bind(tool),
      });
      ifReady(host.toolsChanged);
    },
    registerCommand: (name, command) => {
      if (typeof name !== 'string' || !/^\S+$/.test(name)) throw new TypeError('A command needs a name without blanks');
      if (typeof command?.handler !== 'function') throw new TypeError(`The command ${name} has no handler`);
      const { description } = command;
      extension.commands.set(name, {
        ...command,
        ...(description === undefined ? {} : { description: String(description) }),
      });
      ifReady(host.hooksChanged);
    },
    registerFlag: (name, flag) => void extension.flags.set(name, flag),
    getFlag: (name) => flagValue(extension, name, host),
    registerProvider: (nameOrProvider: string | ProviderObject, given?: object) => {
      const isObject = isProviderObject(nameOrProvider);
      const name = isObject ? nameOrProvider.id : nameOrProvider;
      const config = isObject ? providerConfigOf(nameOrProvider) : (given as object);
      // Until all extensions are loaded, the provider is only recorded.
      const registered = extension.isReady ? host.registerProvider(name, config) : undefined;
      extension.providers.set(name, config);
      if (registered) runInBackground('register_provider', () => registered);
    },
    unregisterProvider: (name) => {
      extension.providers.delete(name);
      ifReady(() => host.unregisterProvider(name));
    },
    registerVirtualModel: (definition) => {
      const { route } = definition ?? {};
      if (typeof route !== 'function') throw new TypeError('A virtual model needs a route function');
      const routed = { ...definition, route: router(extension.path, route.bind(definition)) };
      const registered = extension.isReady ? host.registerVirtualModel(routed) : undefined;
      extension.virtualModels.set(`${definition.provider}/${definition.id}`, routed);
      if (registered) runInBackground('register_virtual_model', () => registered);
    },
    unregisterVirtualModel: (provider, id) => {
      if (!extension.virtualModels.delete(`${provider}/${id}`)) return;
      ifReady(() => host.unregisterVirtualModel(provider, id));
    },
    registerMcpServer: (name, config) => {
      host.mcpServers.register(extension, name, config);
      ifReady(host.mcpServersChanged);
    },
    unregisterMcpServer: (name) => {
      host.mcpServers.unregister(extension, name);
      ifReady(host.mcpServersChanged);
    },
    getMcpServers: () => host.mcpServers.list(),
    sendMessage: (message, options = {}) => {
      const { sendMessage } = readyHost();
      checkDeliverAs(options.deliverAs, ['steer', 'followUp', 'nextTurn']);
      runInBackground('send_message', () => sendMessage(parseCustomMessage(message), options));
    },
    sendUserMessage: (content, options = {}) => {
      const { prompt } = readyHost();
      checkDeliverAs(options.deliverAs, ['steer', 'followUp']);
      const checked = typeof content === 'string' ? content : toBlocks('content', content);
      runInBackground('send_user_message', () => prompt(checked, options));
    },
    appendEntry: (customType, data) => {
      const { transcript } = readyHost().session();
      const copy = data === undefined ? {} : { data: plainCopy(data) };
      transcript.append({ type: 'custom', customType: String(customType), ...copy });
    },
    setSessionName: (name) => readyHost().setName(sessionNameFrom(name)),
    getSessionName: () => readyHost().session().transcript.name,
    setLabel: (entryId, label) => {
      readyHost()
        .session()
        .transcript.setLabel(entryId, label === undefined ? undefined : String(label));
    },
    exec: async (command, args, options = {}) => host.exec(command, args, options),
    getActiveTools: () => readyHost().toolbox.activeNames,
    getAllTools: () => readyHost().toolbox.all.map((sourced) => toolListing(sourced, host.toolDefinition)),
    setActiveTools: (names) => {
      const { toolbox, change } = readyHost();
      const known = new Set(toolbox.describe().map(({ name }) => name));
      change(() => toolbox.activate(names.filter((name) => known.has(name))));
    },
    getCommands: () => [...readyHost().commands()],
    getSettings: () => readyHost().settings() as Settings,
    setModel: async ({ provider, id }) => {
      const { registry, setModel } = readyHost();
      const model = registry.find(provider, id);
      if (model) await setModel(model);
      return model !== undefined;
    },
    getThinkingLevel: () => readyHost().session().choice.thinkingLevel,
    setThinkingLevel: (level) => {
      if (!isThinkingLevel(level)) throw new TypeError(`Not a thinking level: ${String(level)}`);
      readyHost().setThinkingLevel(level);
    },
    events,
    registerShortcut: () => {},
    registerMessageRenderer: () => {},
    registerEntryRenderer: () => {},
    registerToolRenderer: () => {},
    registerMarkdownTransformer: () => {},
  };
}

function toolListing(
  { tool, source }: Toolbox['all'][number],
  definitionOf: ExtensionHost['toolDefinition'],
): ToolListing {
  const { name, description, parameters, promptGuidelines, exposure = 'direct', namespace, annotations } = tool;
  const reachesTools = source === 'extension' ? definitionOf(name)?.reachesTools : undefined;
  return {
    name,
    description,
    parameters: { ...parameters },
    ...(promptGuidelines ? { promptGuidelines: [...promptGuidelines] } : {}),
    exposure,
    ...structuredClone({ ...(namespace ? { namespace } : {}), ...(annotations ? { annotations } : {}) }),
    ...(reachesTools ? { reachesTools } : {}),
    sourceInfo: { path: `<${source}>`, source, scope: 'temporary', origin: 'top-level' },
  };
}

// An unknown mode would make the message wait forever.
function checkDeliverAs(deliverAs: unknown, known: readonly string[]): void {
  if (deliverAs === undefined || known.includes(String(deliverAs))) return;
  throw new TypeError(`deliverAs must be one of ${known.join(', ')}, not ${String(deliverAs)}`);
}

/** Throws if a tool definition is incomplete or invalid. */
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

function flagValue(extension: Extension, name: string, { flags }: ExtensionHost): boolean | string | undefined {
  const flag = extension.flags.get(name);
  if (!flag) return undefined;
  const given = flags.get(name);
  if (given === undefined) return flag.default;
  return flag.type === 'boolean' ? given !== 'false' : String(given);
}
