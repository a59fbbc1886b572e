import type { ParentAgent } from '../../engine/addons/detect.ts';
import { AgentSession } from '../agent-session.ts';
import { type CreateAgentSessionOptions, openAgentSession } from '../create-agent-session.ts';
import { ExtensionRunner } from '../extension-runner.ts';
import { AuthStorage } from '../models/auth-storage.ts';
import { type CreateModelRuntimeOptions, ModelRuntime, PiModelRegistry } from '../models/model-runtime.ts';
import { resolveCliModel, resolveModelScopeWithDiagnostics } from '../models/resolve-models.ts';
import { DefaultResourceLoader } from '../resources/default-resource-loader.ts';
import { createExtensionRuntime, discoverAndLoadExtensions } from '../resources/load-extensions.ts';
import { SessionManager } from '../sessions/session-manager.ts';
import { SettingsManager } from '../settings/settings-manager.ts';
import { AgentSessionRuntime, createAgentSessionRuntime } from './agent-session-runtime.ts';
import {
  type CreateAgentSessionFromServicesOptions,
  type CreateAgentSessionServicesOptions,
  createAgentSessionServices,
  openFromServices,
} from './agent-session-services.ts';

/** The names of pi's SDK for the extensions of an agent: what they create shares its models and ends with it. */
export function sdkFor(parent: ParentAgent): object {
  const { registry, agentDir } = parent;
  class ResourceLoader extends DefaultResourceLoader {
    override parent = { registry, sdk: async () => names };
  }
  class Models extends ModelRuntime {
    /** The models of the agent, unless other files or credentials are given. */
    static override async create(options: CreateModelRuntimeOptions = {}): Promise<ModelRuntime> {
      const { authPath, modelsPath, credentials } = options;
      const isOwn = authPath === undefined && modelsPath === undefined && credentials === undefined;
      if (!isOwn) return ModelRuntime.create(options);
      await registry.load({ anyway: true });
      return ModelRuntime.over(registry.share(), agentDir);
    }
  }
  const names = {
    AgentSession,
    AgentSessionRuntime,
    AuthStorage,
    DefaultResourceLoader: ResourceLoader,
    ExtensionRunner,
    ModelRegistry: PiModelRegistry,
    ModelRuntime: Models,
    SessionManager,
    SettingsManager,
    createAgentSession: (options: CreateAgentSessionOptions = {}) => openAgentSession(options, parent),
    createAgentSessionFromServices: (options: CreateAgentSessionFromServicesOptions) =>
      openFromServices(options, parent),
    createAgentSessionRuntime,
    createAgentSessionServices: (options: CreateAgentSessionServicesOptions) =>
      createAgentSessionServices(
        { agentDir, ...options },
        { ModelRuntime: Models, DefaultResourceLoader: ResourceLoader },
      ),
    createExtensionRuntime,
    discoverAndLoadExtensions,
    resolveCliModel,
    resolveModelScopeWithDiagnostics,
  };
  return names;
}
