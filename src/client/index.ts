/**
 * The control plane for programs in another process. Provides, over HTTP, the same services as a control plane in the same
 * process, and the typed client for every route. See docs/embedding.md.
 */
export { ApiError } from "../../schema/errors/ApiError.ts"
export type { Capsule } from "../../schema/records/Capsule.ts"
export type { Connection } from "../../schema/records/Connection.ts"
export type { InstallPlan, RevisionPlan } from "../../schema/records/InstallPlan.ts"
export type { ListedRun, Run } from "../../schema/records/Run.ts"
export type { RunLogEntry } from "../../schema/events/RunEvent.ts"
export type { Source, SourceSnapshot } from "../../schema/records/Source.ts"
export type { Output, StateVersion } from "../../schema/records/StateVersion.ts"
export type { Member, Project, Workspace } from "../../schema/records/Workspace.ts"
export { Actor, type ActorShape } from "./Actor.ts"
export type { SvcClientShape } from "./ClientGroups.ts"
export { ApiTransport, type ApiTransportShape } from "./ApiTransport.ts"
export type { IdempotencyOptions } from "./IdempotencyOptions.ts"
export type { Page, PageQuery } from "./Paging.ts"
export type { OtherRunEvent, RunEvent } from "./RunEvents.ts"
export { followEvents, followLogs, type WireEvent } from "./RunFollower.ts"
export { type ClientOptions, makeClient, SvcClient } from "./SvcClient.ts"
export { type Answer, type Items, type SvcError, TransportFailed } from "./SvcError.ts"
export { layer, servicesOver, type SvcServices } from "./SvcServices.ts"
export {
  type CapsuleChange,
  type CapsuleFilter,
  Capsules,
  type CapsulesShape,
  type ConfigurationChange
} from "./services/Capsules.ts"
export { Connections, type ConnectionsShape } from "./services/Connections.ts"
export { InstallFailed, InstallPlans, type InstallPlansShape } from "./services/InstallPlans.ts"
export { RevisionFailed, RevisionPlans, type RevisionPlansShape } from "./services/RevisionPlans.ts"
export { type ReviewedRun, RunFailed, type RunFilter, Runs, type RunsShape } from "./services/Runs.ts"
export { Sources, type SourcesShape } from "./services/Sources.ts"
export {
  type ActivityFilter,
  Members,
  type MembersShape,
  Workspaces,
  type WorkspacesShape
} from "./services/Workspaces.ts"
