import { resolve } from 'node:path';
import type { ParentAgent } from '../../engine/addons/detect.ts';
import { agentDir } from '../../store/agent-dir.ts';
import {
  type CreateAgentSessionOptions,
  type CreateAgentSessionResult,
  openAgentSession,
} from '../create-agent-session.ts';
import { ModelRuntime } from '../models/model-runtime.ts';
import {
  DefaultResourceLoader,
  type DefaultResourceLoaderOptions,
  type ResourceLoaderReloadOptions,
} from '../resources/default-resource-loader.ts';
import type { ResourceLoader } from '../resources/resource-view.ts';
import { SettingsManager } from '../settings/settings-manager.ts';

/** A problem that was found while the services were created. */
export interface AgentSessionRuntimeDiagnostic {
  readonly type: 'info' | 'warning' | 'error';
  readonly message: string;
}

/** The parts of an agent that depend on its folder. */
export interface AgentSessionServices {
  readonly cwd: string;
  readonly agentDir: string;
  readonly modelRuntime: ModelRuntime;
  readonly settingsManager: SettingsManager;
  readonly resourceLoader: ResourceLoader &
    Pick<DefaultResourceLoader, 'getExtensions' | 'getSkills' | 'getAgentsFiles'>;
  readonly diagnostics: AgentSessionRuntimeDiagnostic[];
}

export interface CreateAgentSessionServicesOptions {
  readonly cwd: string;
  readonly agentDir?: string | undefined;
  readonly settingsManager?: SettingsManager | undefined;
  readonly modelRuntime?: ModelRuntime | undefined;
  readonly resourceLoaderOptions?:
    | Omit<DefaultResourceLoaderOptions, 'cwd' | 'agentDir' | 'settingsManager'>
    | undefined;
  readonly resourceLoaderReloadOptions?: ResourceLoaderReloadOptions | undefined;
}

export interface CreateAgentSessionFromServicesOptions
  extends Omit<
    CreateAgentSessionOptions,
    'cwd' | 'agentDir' | 'settingsManager' | 'modelRuntime' | 'modelRegistry' | 'resourceLoader'
  > {
  readonly services: AgentSessionServices;
}

/** The classes with which an agent or the extension of an agent creates services. */
interface ServiceClasses {
  readonly ModelRuntime: Pick<typeof ModelRuntime, 'create'>;
  readonly DefaultResourceLoader: typeof DefaultResourceLoader;
}

/** Reads the settings and models of a folder and loads its extensions, skills and templates. */
export async function createAgentSessionServices(
  options: CreateAgentSessionServicesOptions,
  classes: ServiceClasses = { ModelRuntime, DefaultResourceLoader },
): Promise<AgentSessionServices> {
  const cwd = resolve(options.cwd);
  const folder = options.agentDir ?? agentDir(process.env);
  const settingsManager = options.settingsManager ?? SettingsManager.create(cwd, folder);
  const authPath = options.agentDir === undefined ? undefined : resolve(folder, 'auth.json');
  const modelRuntime = options.modelRuntime ?? (await classes.ModelRuntime.create({ authPath }));
  const resourceLoader = new classes.DefaultResourceLoader({
    ...options.resourceLoaderOptions,
    cwd,
    agentDir: folder,
    settingsManager,
  });
  await resourceLoader.reload(options.resourceLoaderReloadOptions);
  const diagnostics: AgentSessionRuntimeDiagnostic[] = [
    ...settingsManager.drainErrors().map(({ error }) => ({ type: 'warning' as const, message: error.message })),
    ...resourceLoader.getExtensions().errors.map(({ path, error }) => ({
      type: 'error' as const,
      message: `Failed to load extension "${path}": ${error}`,
    })),
  ];
  return { cwd, agentDir: folder, modelRuntime, settingsManager, resourceLoader, diagnostics };
}

/** Opens an agent with services that were created before. */
export const createAgentSessionFromServices = (
  options: CreateAgentSessionFromServicesOptions,
): Promise<CreateAgentSessionResult> => openFromServices(options, undefined);

/** The same for an extension of an agent. */
export function openFromServices(
  { services, ...options }: CreateAgentSessionFromServicesOptions,
  parent: ParentAgent | undefined,
): Promise<CreateAgentSessionResult> {
  const { cwd, agentDir: folder, modelRuntime, settingsManager, resourceLoader } = services;
  return openAgentSession({ ...options, cwd, agentDir: folder, modelRuntime, settingsManager, resourceLoader }, parent);
}
