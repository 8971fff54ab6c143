import type { SubagentsPort, TextsPort } from './assistant.ts';
import type { CapabilityProvidersPort } from './capability-providers.ts';
import type { DiscoveryPort } from './discovery.ts';
import type { AgentsPort, MachinesPort, ServersPort } from './fleet.ts';
import type { ApprovalsPort, AuditPort, GrantsPort, IdentityPort, PoliciesPort } from './governance.ts';
import type { FilesPort } from './files.ts';
import type { InboxPort } from './inbox.ts';
import type { MemoryPort } from './memory.ts';
import type { ManagedServersPort, ManagedToolsPort } from './managed.ts';
import type { PasskeysPort } from './passkeys.ts';
import type { PipelinePort } from './pipeline.ts';
import type { PreviewsPort } from './previews.ts';
import type { RunsPort } from './runs.ts';
import type { WebPort } from './web.ts';
import type { MessagesPort, SessionControlPort, SessionsPort, TranscriptsPort } from './sessions.ts';

/** What actions may call. One small port a family; `run` takes the ones that it needs. */
export interface ActionPorts {
  discovery: DiscoveryPort;
  pipeline: PipelinePort;
  subagents: SubagentsPort;
  texts: TextsPort;
  sessions: SessionsPort;
  control: SessionControlPort;
  messages: MessagesPort;
  transcripts: TranscriptsPort;
  runs: RunsPort;
  inbox: InboxPort;
  files: FilesPort;
  capabilityProviders: CapabilityProvidersPort;
  managedServers: ManagedServersPort;
  managedTools: ManagedToolsPort;
  memory: MemoryPort;
  machines: MachinesPort;
  agents: AgentsPort;
  servers: ServersPort;
  policies: PoliciesPort;
  approvals: ApprovalsPort;
  grants: GrantsPort;
  audit: AuditPort;
  previews: PreviewsPort;
  identity: IdentityPort;
  passkeys: PasskeysPort;
  web: WebPort;
}
