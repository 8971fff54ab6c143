import { createSubagents } from '../assistant/subagents.ts';
import { texts } from '../assistant/texts.ts';
import { createFilesPort } from '../blobs/files-port.ts';
import type { Uploads } from '../blobs/uploads.ts';
import { createPasskeysPort } from '../auth/passkeys-port.ts';
import type { BackendPorts } from '../../core/engine.ts';
import type { CapabilityProvidersPort } from '../../core/ports/capability-providers.ts';
import type { BackendServer } from '../../core/ports/fleet.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { Revocations } from '../revocations.ts';
import type { Memory } from '../memory/memory.ts';
import type { RandomBytes } from '../secrets.ts';
import type { BackendStore } from '../store/store.ts';
import type { Managed } from '../managed/managed.ts';
import type { Archives } from '../work/archives.ts';
import type { Deliveries } from '../work/deliveries.ts';
import { endRunsWithParent } from '../work/runs/end-with-parent.ts';
import { createRunWork, type RunWork } from '../work/runs/runs.ts';
import type { Web } from '../web/web.ts';
import type { Starts } from '../work/starts.ts';
import { createAskMachine } from './ask-machine.ts';
import { createSessionControl } from './control.ts';
import { createAgents, createFreshAgents, createMachines } from './fleet.ts';
import { createFork } from './fork.ts';
import { createIdentity } from './identity.ts';
import { createInbox } from './inbox.ts';
import { createMessages } from './messages.ts';
import { createStartNew } from './new-session.ts';
import { createRuns } from './runs.ts';
import { keepRunsOfOthers } from './runs-of-others.ts';
import { createSpawn } from './spawn.ts';

export interface PortsOptions {
  store: BackendStore;
  links: MachineLinks;
  starts: Starts;
  deliveries: Deliveries;
  archives: Archives;
  revocations: Revocations;
  runtime: Runtime;
  randomBytes: RandomBytes;
  /** Undefined where this backend keeps no files. */
  uploads: Uploads | undefined;
  managed: Pick<Managed, 'servers' | 'tools'>;
  capabilityProviders: CapabilityProvidersPort;
  memory: Pick<Memory, 'port'>;
  web: Pick<Web, 'port'>;
  log: Logger;
  /** This node, as it is now. */
  serverInfo(): BackendServer;
}

/** What actions call, over the store and the machine links; and the work on runs, which goes on by itself. */
export function createBackendPorts(options: PortsOptions): { ports: BackendPorts; runWork: RunWork } {
  const { store, links, deliveries, log, runtime } = options;
  const ask = createAskMachine({ links, machines: store.machines });
  const startNew = createStartNew(options);
  const freshAgents = createFreshAgents({ store, ask });
  const { sessions, control } = endRunsWithParent(
    {
      sessions: {
        list: store.sessions.list,
        get: store.sessions.get,
        findByPrefix: store.sessions.findByPrefix,
        setTitle: store.sessions.setTitle,
        lineage: store.sessions.lineage,
        isWithin: store.sessions.isWithin,
        async setArchived(sessionId, archived) {
          const session = await store.sessions.setArchived(sessionId, archived);
          // Machines that came back meanwhile were not handed what archived sessions still had queued.
          if (!archived) void deliveries.deliver(sessionId);
          return session;
        },
      },
      control: createSessionControl({
        store,
        ask,
        archives: options.archives,
        spawn: createSpawn({ ...options, startNew, freshAgents }),
        fork: createFork({ ...options, startNew }),
      }),
    },
    () => runWork,
  );
  const runWork = createRunWork({ store, control, deliver: deliveries.deliver, runtime, log });
  const ports: BackendPorts = {
    sessions,
    ...keepRunsOfOthers(store, { control, messages: createMessages(options) }),
    runs: createRuns({ store, work: runWork, runtime, freshAgents }),
    inbox: createInbox(options),
    files: createFilesPort({ ...options, ask }),
    managedServers: options.managed.servers,
    managedTools: options.managed.tools,
    memory: options.memory.port,
    web: options.web.port,
    transcripts: store.transcripts,
    subagents: createSubagents(store.settings),
    texts,
    capabilityProviders: options.capabilityProviders,
    machines: createMachines(options),
    agents: createAgents({ store, links, freshAgents }),
    servers: { list: async () => [options.serverInfo()] },
    policies: store.policies,
    audit: store.audit,
    identity: createIdentity(options),
    passkeys: createPasskeysPort({ passkeys: store.passkeys, revocations: options.revocations }),
  };
  return { ports, runWork };
}
