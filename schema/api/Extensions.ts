import type { Extension } from "../records/Discovery.ts"
import { ActionConfirmationsApi } from "./ActionConfirmationsApi.ts"
import { AgentPoolsApi } from "./AgentPoolsApi.ts"
import { ApprovalsApi } from "./ApprovalsApi.ts"
import { AuditApi } from "./AuditApi.ts"
import { BackupImportsApi } from "./BackupImportsApi.ts"
import { BackupsApi } from "./BackupsApi.ts"
import { CapsulesApi } from "./CapsulesApi.ts"
import { CommentsApi } from "./CommentsApi.ts"
import { ConnectionsApi } from "./ConnectionsApi.ts"
import { DashboardApi } from "./DashboardApi.ts"
import { ExportsApi } from "./ExportsApi.ts"
import { InvitationsApi } from "./InvitationsApi.ts"
import { OrphanedStatesApi } from "./OrphanedStatesApi.ts"
import { MembersApi } from "./MembersApi.ts"
import { NoticesApi } from "./NoticesApi.ts"
import { RunsApi } from "./RunsApi.ts"
import { SourcesApi } from "./SourcesApi.ts"
import { StateResourcesApi } from "./StateResourcesApi.ts"
import { StateUploadsApi } from "./StateUploadsApi.ts"
import { TeamsApi } from "./TeamsApi.ts"
import { WorkspacesApi } from "./WorkspacesApi.ts"

interface Endpoint {
  readonly method: string
  readonly path: string
}

/** A group of endpoints that an operator may enable or disable. */
export type Family = Omit<Extension, "enabled">

/** Groups that an operator may disable, because each moves states or whole Capsules into or out of the installation. */
export const optionalFamilies = ["state-uploads", "backup-imports", "exports"] as const
export type OptionalFamily = (typeof optionalFamilies)[number]

const family = (name: string, summary: string, endpoints: Readonly<Record<string, Endpoint>>): Family => ({
  name,
  summary,
  endpoints: Object.values(endpoints).map(({ method, path }) => `${method} ${path}`)
})

const { autoUpdateDecisions, look, reconcilePlan, release } = CapsulesApi.endpoints
const { latestRuns, needs } = DashboardApi.endpoints
const { cancelGroup, changeCauses, sourceChanges } = RunsApi.endpoints
const { revisions } = SourcesApi.endpoints
const { handOver, runFacets, setAutomation } = WorkspacesApi.endpoints

/** The group of OAuth helpers, which is part of the specification. It is enabled if the operator declares a helper. */
export const helperFamily = "oauth-helpers"

/** Optional groups of endpoints: all endpoints beyond sections 1 to 9 of the specification, and OAuth helpers. */
export const extensions: ReadonlyArray<Family> = [
  family("invitations", "Invitations to a Workspace, by link or by mail.", InvitationsApi.endpoints),
  family("teams", "Teams of a Workspace and their roles.", TeamsApi.endpoints),
  family("approval-rules", "Rules for the number of approvals.", ApprovalsApi.endpoints),
  family("audit", "The operation history as JSON lines.", AuditApi.endpoints),
  family("state-uploads", "Existing state that an install takes over.", StateUploadsApi.endpoints),
  family("state-resources", "The resources of a Capsule, without values.", StateResourcesApi.endpoints),
  family("left-over-states", "States that a Run left behind.", OrphanedStatesApi.endpoints),
  family("restores", "Backups of a Capsule or Workspace, and restoring from them.", BackupsApi.endpoints),
  family("backup-imports", "A Capsule from the backup of another installation.", BackupImportsApi.endpoints),
  family("exports", "A Capsule as files with which the bare tool goes on.", ExportsApi.endpoints),
  family(
    "action-confirmations",
    "One action of a token, confirmed by its person in the browser.",
    ActionConfirmationsApi.endpoints
  ),
  family(
    "member-tokens",
    "Tokens of automation members, and what the departure of a member stops.",
    MembersApi.endpoints
  ),
  family("ownership", "Handing a Workspace over, and pausing what starts without a person.", {
    handOver,
    setAutomation
  }),
  family("run-search", "Counts for the filters of Runs, and what a Run changes in the source, and why.", {
    runFacets,
    sourceChanges,
    changeCauses
  }),
  family("run-comments", "Comments on Runs.", CommentsApi.endpoints),
  family("agent-pools", "Pools of agents, and releasing a Capsule from a lost one.", AgentPoolsApi.endpoints),
  family("run-groups", "Cancelling a group of Runs.", { cancelGroup }),
  family("source-revisions", "The branches, tags and newest commits of a repository.", { revisions }),
  family("capsule-look", "Reading the ref that a Capsule follows before a plan by hand.", { look }),
  family("capsule-release", "A Capsule that the service no longer manages.", { release }),
  family("drift-repair", "A plan that takes drift back, and what auto-update decided.", {
    reconcilePlan,
    autoUpdateDecisions
  }),
  family("source-administration", "Removing a Source, and renewing its webhook secret.", {
    remove: SourcesApi.endpoints.remove,
    renewHookSecret: SourcesApi.endpoints.renewHookSecret
  }),
  family("connection-administration", "Reading, rotating and removing a Connection, and confirming its origins.", {
    read: ConnectionsApi.endpoints.read,
    update: ConnectionsApi.endpoints.update,
    remove: ConnectionsApi.endpoints.remove,
    confirmOrigins: ConnectionsApi.endpoints.confirmOrigins
  }),
  family(helperFamily, "Authorising a Connection at another service.", {
    startOAuth: ConnectionsApi.endpoints.startOAuth,
    finishOAuth: ConnectionsApi.endpoints.finishOAuth
  }),
  family("notices", "Endpoints that receive notices, their deliveries, and notices by mail.", NoticesApi.endpoints),
  family("dashboard-lists", "Everything that needs a person, and the latest Runs.", { needs, latestRuns })
]
