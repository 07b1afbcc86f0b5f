/**
 * The control plane as a library. `layer` runs the whole control plane in this process, with the same services that
 * `@svc-dev/client` provides over HTTP. `layerServer` opens a listener as well. See docs/embedding.md.
 */
export { RunSettings, type RunSettingsShape } from "../actors/ledger/run/RunSettings.ts"
export type { User } from "../actors/access/account/Users.ts"
export {
  type ActivityFilter,
  Actor,
  type ActorShape,
  type Answer,
  ApiError,
  type CapsuleChange,
  type CapsuleFilter,
  Capsules,
  type CapsulesShape,
  type ConfigurationChange,
  Connections,
  type ConnectionsShape,
  type IdempotencyOptions,
  InstallFailed,
  InstallPlans,
  type InstallPlansShape,
  type Items,
  Members,
  type MembersShape,
  type OtherRunEvent,
  type Page,
  type PageQuery,
  type ReviewedRun,
  RevisionFailed,
  RevisionPlans,
  type RevisionPlansShape,
  type RunEvent,
  RunFailed,
  type RunFilter,
  Runs,
  type RunsShape,
  Sources,
  type SourcesShape,
  SvcClient,
  type SvcClientShape,
  type SvcError,
  type SvcServices,
  TransportFailed,
  Workspaces,
  type WorkspacesShape
} from "./client/index.ts"
export type { Capsule } from "../schema/records/Capsule.ts"
export type { Connection } from "../schema/records/Connection.ts"
export type { InstallPlan, RevisionPlan } from "../schema/records/InstallPlan.ts"
export type { ListedRun, Run } from "../schema/records/Run.ts"
export type { RunLogEntry } from "../schema/events/RunEvent.ts"
export type { Source, SourceSnapshot } from "../schema/records/Source.ts"
export type { Output, StateVersion } from "../schema/records/StateVersion.ts"
export type { Member, Project, Workspace } from "../schema/records/Workspace.ts"
export type { RunnerServices } from "./composition/Machine.ts"
export type { DatabaseServices } from "./composition/Storage.ts"
export { layerFromSqlClient, layerSqlite, SqlClientUnsuitable } from "./database/HostSqlClient.ts"
export {
  type Account,
  Administration,
  type AdministrationShape,
  type NewAccount,
  type NewToken
} from "./embedding/Administration.ts"
export { type ActingFor, ControlPlane, type ControlPlaneShape } from "./embedding/ControlPlane.ts"
export type { HostSettings } from "./embedding/HostSettings.ts"
export { type Embedded, layer, layerConfig, layerServer, type Options, type ServerOptions } from "./embedding/Layers.ts"
export type { Drain, HostParts, PlainOptions } from "./embedding/Options.ts"
export { type Exchanged, handler, layerRoutes, type RoutesOptions } from "./embedding/Routes.ts"
export { StartFailed, StartReason } from "./embedding/StartFailed.ts"
export { logging } from "./observability/Logging.ts"
