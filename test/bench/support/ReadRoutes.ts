import { HttpApi } from "effect/http-api"
import { accessOf } from "../../../schema/api/Roles.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { listed, type readWorld } from "./ReadWorld.ts"
import type { Effect } from "effect"

type World = Effect.Success<ReturnType<typeof readWorld>>

/** The rows that a bare server reads for the same response. */
interface Rows {
  readonly table: string
  readonly column?: string
  readonly value?: string
}

export interface ReadRoute {
  readonly name: string
  readonly path: string
  /** The request as complete HTTP text. */
  readonly request: string
  /** Absent for a route that returns a single record. */
  readonly rows?: Rows
}

// Routes that are not measured because they have side effects: a browser calls the first route once, from another site; the
// other routes are downloads.
const unmeasured: ReadonlySet<string> = new Set([
  "connections.finishOAuth",
  "connections.gitHubAppForm",
  "connections.finishGitHubApp",
  "backups.archive",
  "exports.download"
])

const rowsOf = ({ ids, subject }: World): Readonly<Record<string, Rows>> => {
  const ofWorkspace = (table: string) => ({ table, column: "workspace_id", value: ids.workspaceId })
  const ofCapsule = (table: string, column = "capsule_id") => ({ table, column, value: ids.capsuleId })
  return {
    "accountTokens.list": { table: "access_tokens", column: "subject", value: subject },
    "accountTokens.inventory": { table: "access_tokens", column: "subject", value: subject },
    "workspaces.inventory": { table: "workspaces" },
    "workspaces.list": { table: "workspaces" },
    "members.tokens": { table: "access_tokens", column: "subject", value: ids.subject },
    "teams.list": ofWorkspace("teams"),
    "approvals.rules": ofWorkspace("approval_rules"),
    "invitations.list": ofWorkspace("invitations"),
    "workspaces.members": ofWorkspace("memberships"),
    "workspaces.projects": ofWorkspace("projects"),
    "workspaces.graph": ofWorkspace("capsules"),
    "workspaces.activity": ofWorkspace("audit_events"),
    "audit.export": ofWorkspace("audit_events"),
    "workspaces.backups": ofWorkspace("backups"),
    "workspaces.currentStateVersions": ofWorkspace("state_versions"),
    "workspaces.runs": ofWorkspace("runs"),
    "workspaces.capsules": ofWorkspace("capsules"),
    "capsules.stateVersions": ofCapsule("state_versions"),
    "leftOverStates.list": ofCapsule("left_over_states"),
    "capsules.autoUpdateDecisions": ofCapsule("auto_update_decisions"),
    "capsules.dependencies": ofCapsule("dependencies", "consumer_capsule_id"),
    "capsules.configs": ofWorkspace("install_configs"),
    "sources.list": ofWorkspace("sources"),
    "sources.snapshots": { table: "source_snapshots", column: "source_id", value: ids.sourceId },
    "connections.list": ofWorkspace("connections"),
    "connections.providerConnections": ofWorkspace("connections"),
    "connections.outputShares": { table: "output_shares", column: "from_workspace_id", value: ids.workspaceId },
    "runs.events": { table: "run_events", column: "run_id", value: ids.runId },
    "runs.logs": { table: "run_log_chunks", column: "run_id", value: ids.runId },
    "dashboard.bootstrap": { table: "workspaces" },
    "dashboard.latestRuns": ofWorkspace("runs")
  }
}

/** Every GET route in the API, with a request that gets a 200 response. */
export const readRoutes = (world: World): ReadonlyArray<ReadRoute> => {
  const { bearer, capsuleIds, ids, session } = world
  const parameters: Readonly<Record<string, string>> = ids
  const rows = rowsOf(world)
  const found: Array<ReadRoute> = []
  HttpApi.reflect(SvcApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const name = `${group.identifier}.${endpoint.identifier}`
      if (endpoint.method !== "GET" || unmeasured.has(name)) return
      const rule = accessOf(endpoint)
      const known = endpoint.query?.ast
      const takes = (key: string) =>
        known?._tag === "Objects" && known.propertySignatures.some((property) => property.name === key)
      const query = [
        ...(takes("workspaceId") ? [`workspaceId=${ids.workspaceId}`] : []),
        ...(takes("limit") ? [`limit=${listed}`] : []),
        ...(takes("capsuleIds") ? [`capsuleIds=${capsuleIds.join(",")}`] : []),
        ...(takes("path") ? ["path=main.tf"] : []),
        ...(name === "stateResources.history" ? [`address=${encodeURIComponent(world.address)}`] : [])
      ]
      const path = endpoint.path.replace(/:(\w+)/g, (_, key: string) => parameters[key] ?? key)
      const address = query.length === 0 ? path : `${path}?${query.join("&")}`
      const wantsSession =
        (rule.kind === "account" && rule.credential === "session") || (rule.kind === "workspace" && rule.session)
      const credential = rule.kind === "public" ? "" : wantsSession ? session : bearer
      const list = rows[name]
      found.push({
        name,
        path: endpoint.path,
        request: `GET ${address} HTTP/1.1\r\nhost: 127.0.0.1\r\n${credential}\r\n`,
        ...(list === undefined ? {} : { rows: list })
      })
    }
  })
  return found
}
