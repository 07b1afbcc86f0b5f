import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Audit } from "../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { Interfaces } from "../../../actors/ledger/interface/Interfaces.ts"
import { StoredBytes, type StoredMeasurement } from "../../../actors/upkeep/retention/StoredBytes.ts"
import { Runs } from "../../../actors/ledger/run/Runs.ts"
import { AutomationMembers } from "../../../actors/access/member/AutomationMembers.ts"
import { invitationLink, Invitations } from "../../../actors/access/member/Invitations.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { Projects } from "../../../actors/ledger/workspace/Projects.ts"
import { readWorkspaceGraph } from "../../../actors/ledger/workspace/WorkspaceGraph.ts"
import { Workspaces } from "../../../actors/ledger/workspace/Workspaces.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { invalidRequest } from "../../../schema/errors/ApiError.ts"
import { ProjectId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { memberScope } from "./MemberHandlers.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import type { StoredKind } from "../../../schema/records/StoredKind.ts"

/** Kinds of usage that are measured in the background. The usage for logs and states is counted on each request. */
const countedKinds = [
  ["events", "event_bytes"],
  ["plans", "plan_bytes"],
  ["snapshots", "snapshot_bytes"],
  ["backups", "backup_bytes"],
  ["history", "history_bytes"]
] as const satisfies ReadonlyArray<readonly [StoredKind, string]>

/** Extracts one Workspace's usage from the latest measurement. */
const countedUsage = ({ amounts, at }: StoredMeasurement, workspaceId: WorkspaceId) =>
  countedKinds.map(([kind, metric]) => ({
    metric,
    value: amounts.find((amount) => amount.kind === kind && amount.workspaceId === workspaceId)?.bytes ?? 0,
    countedAt: at
  }))

const largestPage = 100

/** Converts the query parameters for a list of Runs to a filter. */
const runFilterOf = <Q extends { readonly speculative?: "true" | "false" }>({ speculative, ...filter }: Q) => ({
  ...filter,
  ...(speculative === undefined ? {} : { speculative: speculative === "true" })
})

/** Handlers for Workspaces and for records that are listed by Workspace. */
export const workspaceHandlers = HttpApiBuilder.group(
  SvcApi,
  "workspaces",
  Effect.fn(function* (handlers) {
    const workspaces = yield* Workspaces
    const members = yield* Members
    const automations = yield* AutomationMembers
    const invitations = yield* Invitations
    const { baseUrl } = yield* HttpSettings
    const projects = yield* Projects
    const capsules = yield* Capsules
    const stored = yield* StoredBytes
    const runs = yield* Runs
    const audit = yield* Audit
    const interfaces = yield* Interfaces
    const read = yield* ReadSql
    return storedAnswers("workspaces", handlers).handleAll({
      inventory: Effect.fnUntraced(function* ({ query }) {
        const { subject } = yield* Caller
        return yield* workspaces.inventory(subject, { limit: query.limit ?? largestPage, cursor: query.cursor })
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { boundWorkspaceId, subject } = yield* Caller
        if (boundWorkspaceId === undefined) yield* workspaces.ensurePersonal(yield* commandContext, subject)
        const limit = query.limit ?? largestPage
        const list = yield* workspaces.list(subject, {
          limit,
          cursor: query.cursor,
          order: query.order,
          selectedWorkspaceId: query.selectedWorkspaceId,
          includeTotal: query.includeTotal === "true",
          boundWorkspaceId
        })
        return {
          workspaces: list.workspaces,
          returned: list.workspaces.length,
          limit,
          truncated: list.truncated,
          ...(list.total === undefined ? {} : { total: list.total }),
          ...(list.pinnedWorkspaceId === undefined ? {} : { pinnedWorkspaceId: list.pinnedWorkspaceId }),
          ...(list.nextCursor === undefined ? {} : { nextCursor: list.nextCursor })
        }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { subject } = yield* Caller
        return { workspace: yield* workspaces.create(yield* commandContext, subject, payload) }
      }),
      read: Effect.fnUntraced(function* () {
        const { subject } = yield* Caller
        return { workspace: yield* workspaces.read(subject, yield* authorisedWorkspace) }
      }),
      update: Effect.fnUntraced(function* ({ payload }) {
        const { subject } = yield* Caller
        const id = yield* authorisedWorkspace
        return { workspace: yield* workspaces.update(yield* commandContext, subject, id, payload) }
      }),
      setAutomation: Effect.fnUntraced(function* ({ payload }) {
        const { subject } = yield* Caller
        const id = yield* authorisedWorkspace
        return { workspace: yield* workspaces.setAutomation(yield* commandContext, subject, id, payload) }
      }),
      members: Effect.fnUntraced(function* ({ query }) {
        const { subject } = yield* Caller
        const page = yield* members.list(yield* authorisedWorkspace, subject, yield* pageRequest(query))
        return { members: page.items, ...cursorOf(page) }
      }),
      addMember: Effect.fnUntraced(function* ({ payload }) {
        const { automation, email, role, subject } = payload
        if ([automation, email, subject].filter((name) => name !== undefined).length !== 1) {
          return yield* invalidRequest("Name exactly one of subject, email and automation.")
        }
        const context = yield* commandContext
        const scope = yield* memberScope
        if (automation !== undefined) {
          return { member: yield* automations.create(context, scope, { displayName: automation, role }) }
        }
        const { member, secret } = yield* invitations.create(context, scope, { email, role, subject })
        return member === undefined
          ? yield* Effect.die(new Error("An invitation of somebody shows nobody."))
          : { member, link: invitationLink(baseUrl, secret) }
      }),
      updateMember: Effect.fnUntraced(function* ({ params, payload }) {
        return { member: yield* members.update(yield* commandContext, yield* memberScope, params.subject, payload) }
      }),
      removeMember: Effect.fnUntraced(function* ({ params }) {
        yield* members.remove(yield* commandContext, yield* memberScope, params.subject)
      }),
      handOver: Effect.fnUntraced(function* ({ payload }) {
        return yield* members.handOver(yield* commandContext, yield* memberScope, payload.subject)
      }),
      projects: Effect.fnUntraced(function* ({ query }) {
        const { subject } = yield* Caller
        const page = yield* projects.list(yield* authorisedWorkspace, subject, yield* pageRequest(query))
        return { projects: page.items, ...cursorOf(page) }
      }),
      createProject: Effect.fnUntraced(function* ({ payload }) {
        return { project: yield* projects.create(yield* commandContext, yield* authorisedWorkspace, payload) }
      }),
      readProject: Effect.fnUntraced(function* ({ params }) {
        return { project: yield* projects.read(yield* pathId(ProjectId, params.projectId, "Project")) }
      }),
      graph: Effect.fnUntraced(function* () {
        const id = yield* authorisedWorkspace
        return yield* readWorkspaceGraph(id).pipe(Effect.provideService(ReadSql, read))
      }),
      uiSurfaces: Effect.fnUntraced(function* ({ query }) {
        const { subject } = yield* Caller
        // Treat larger limits as 100 (specification, Workspaces and account views).
        const page = { limit: Math.min(query.limit ?? largestPage, largestPage), cursor: query.cursor }
        const { capsuleId } = query
        const found = yield* interfaces.uiSurfaces(yield* authorisedWorkspace, subject, { capsuleId }, page)
        return { interfaces: found.items, ...cursorOf(found) }
      }),
      activity: Effect.fnUntraced(function* ({ query }) {
        const { subject } = yield* Caller
        const { action, actor, capsuleId, runId, since, until } = query
        const id = yield* authorisedWorkspace
        const filter = { action, actor, capsuleId, runId, since, until }
        const page = yield* audit.list(id, subject, filter, yield* pageRequest(query))
        return { events: page.items, ...cursorOf(page) }
      }),
      materializationFailures: Effect.fnUntraced(function* ({ query }) {
        const page = yield* interfaces.failures(yield* authorisedWorkspace, yield* pageRequest(query))
        return { failures: page.items, ...cursorOf(page) }
      }),
      retryMaterialization: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* authorisedWorkspace
        const failure = yield* interfaces.retry(yield* commandContext, id, params.intentId, payload.expected)
        return { failure }
      }),
      usage: Effect.fnUntraced(function* () {
        const workspaceId = yield* authorisedWorkspace
        const usage = yield* capsules.workspaceUsage(workspaceId)
        const counted = yield* stored.measured
        return {
          usage: [
            { metric: "run_minutes" as const, value: usage.runMinutes },
            { metric: "applies" as const, value: usage.applies },
            { metric: "state_bytes" as const, value: usage.stateBytes },
            { metric: "log_bytes" as const, value: usage.logBytes },
            ...(counted === undefined ? [] : countedUsage(counted, workspaceId))
          ]
        }
      }),
      billing: () => Effect.succeed({ billing: { mode: "disabled" as const } }),
      backups: Effect.fnUntraced(function* ({ query }) {
        const page = yield* capsules.backups(yield* authorisedWorkspace, yield* pageRequest(query))
        return { backups: page.items, ...cursorOf(page) }
      }),
      createBackup: Effect.fnUntraced(function* () {
        return { backup: yield* capsules.backup(yield* commandContext, yield* authorisedWorkspace, undefined) }
      }),
      planUpdate: Effect.fnUntraced(function* ({ payload }) {
        return yield* capsules.planUpdate(yield* commandContext, yield* authorisedWorkspace, payload?.capsuleIds)
      }),
      driftCheck: Effect.fnUntraced(function* () {
        return yield* capsules.driftCheckAll(yield* commandContext, yield* authorisedWorkspace)
      }),
      currentStateVersions: Effect.fnUntraced(function* ({ query }) {
        const page = yield* capsules.currentStateVersions(yield* authorisedWorkspace, yield* pageRequest(query))
        return { stateVersions: page.items, ...cursorOf(page) }
      }),
      runs: Effect.fnUntraced(function* ({ query }) {
        const { cursor: _cursor, includeLooks, limit: _limit, view, ...filter } = query
        const id = yield* authorisedWorkspace
        const wanted = { ...runFilterOf(filter), includeLooks: includeLooks === "true" }
        if (view === "changes") {
          const page = yield* runs.changes(id, wanted, yield* pageRequest(query))
          return { runs: page.items, folded: page.folded, ...cursorOf(page) }
        }
        const page = yield* runs.list(id, wanted, yield* pageRequest(query))
        return { runs: page.items, ...cursorOf(page) }
      }),
      runFacets: Effect.fnUntraced(function* ({ query }) {
        return { facets: yield* runs.facets(yield* authorisedWorkspace, runFilterOf(query)) }
      }),
      capsules: Effect.fnUntraced(function* ({ query }) {
        const { projectId, status } = query
        const { limits } = yield* Caller
        const filter = { projectId, status, ...limits }
        const page = yield* capsules.list(yield* authorisedWorkspace, filter, yield* pageRequest(query))
        return { capsules: page.items, ...cursorOf(page) }
      })
    })
  })
)
