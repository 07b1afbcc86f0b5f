import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { holdsRedactionSentinel } from "../../../runner/redaction/RedactionMark.ts"
import { headRef, parseGitRef } from "../../../schema/git/GitRef.ts"
import type { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { sourceBuildMaterial } from "../../../schema/manifest/PublicMaterial.ts"
import type { ProjectId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { StateAdoption } from "../adoption/StateAdoption.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { checkBounds } from "../../ledger/configuration/VariableRules.ts"
import { checkUses, newCapsuleSite } from "../../running/execution/CapsuleConnections.ts"
import { openForInstall } from "../../running/execution/ReviewedRefs.ts"
import { checkGitConnection } from "../../inputs/connection/ConnectionOrigins.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { checkGitUse } from "../../inputs/git/GitConnectionUse.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { checkMayDepend, checkProducers } from "./InstallDependencies.ts"
import { pinnedRecords } from "./PreflightProblem.ts"
import { ProjectRow } from "../../ledger/workspace/WorkspaceCreation.ts"

type Columns = Readonly<Record<string, string | null>>

/** Returns the Project of an install: the requested one, which must be in this Workspace, or the Workspace's default. */
export const projectOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId, projectId: ProjectId | undefined) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(
    projectId === undefined
      ? ProjectRow.some(sql, "id")`SELECT id FROM projects WHERE workspace_id = ${workspaceId} AND is_default = 1`
      : ProjectRow.some(sql, "id")`SELECT id FROM projects WHERE workspace_id = ${workspaceId} AND id = ${projectId}`
  )
  return rows[0] === undefined
    ? yield* invalidRequest("capsule.projectId: the Workspace has no such Project.")
    : rows[0].id
})

const checkConnections = Effect.fnUntraced(function* (workspaceId: WorkspaceId, request: CreateInstallPlan) {
  const connections = yield* ConnectionStore
  const { authConnectionId, url } = request.source
  yield* checkGitConnection("source.authConnectionId", workspaceId, authConnectionId, url)
  for (const [index, binding] of (request.options?.providerBindings ?? []).entries()) {
    const row = yield* connections.find(binding.connectionId)
    const visible = row !== undefined && (row.scope === "operator" || row.workspace_id === workspaceId)
    if (!visible || row.kind !== "provider") {
      return yield* invalidRequest(
        `options.providerBindings[${index}].connectionId: the Workspace has no such provider Connection.`
      )
    }
  }
})

/**
 * Pins an earlier check. All its records must be in this Workspace and consistent. Errors reveal nothing about records elsewhere.
 */
const checkPreflight = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  request: CreateInstallPlan
): Effect.fn.Return<Columns, ApiError, SourceStore | RunLedger> {
  const { preflight } = request
  if (preflight === undefined) return {}
  const store = yield* SourceStore
  const ledger = yield* RunLedger
  const pinned = pinnedRecords(workspaceId, request, preflight.installConfigId, {
    source: yield* store.find(preflight.sourceId),
    snapshot: yield* store.findSnapshot(preflight.sourceSnapshotId),
    report: yield* store.findReport(preflight.compatibilityReportId),
    run: yield* ledger.find(preflight.compatibilityCheckRunId)
  })
  if (pinned instanceof ApiError) return yield* pinned
  return {
    phase: "creating_capsule",
    source_id: pinned.source.id,
    check_run_id: pinned.run.id,
    source_snapshot_id: pinned.snapshot.id,
    compatibility_report_id: pinned.report.id
  }
})

/** Checks that the caller may use everything that the request refers to. */
const checkAuthority = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  request: CreateInstallPlan,
  context: CommandContext
) {
  const store = yield* SourceStore
  const { preflight, source } = request
  const starter = { subject: context.actor.subject, automatic: false }
  const pinned = preflight === undefined ? undefined : yield* store.findSnapshot(preflight.sourceSnapshotId)
  const report = preflight === undefined ? undefined : yield* store.findReport(preflight.compatibilityReportId)
  const ref = pinned?.ref ?? source.ref ?? "HEAD"
  if (pinned === undefined) {
    yield* checkGitUse(source.authConnectionId, starter, { workspaceId, url: source.url, ref, source: undefined })
  }
  const known = preflight === undefined ? undefined : yield* store.find(preflight.sourceId)
  const site = yield* newCapsuleSite({
    workspaceId,
    projectId,
    url: source.url,
    ref,
    folder: pinned?.path ?? source.path ?? ".",
    modulePath: report?.module_path ?? request.options?.modulePath,
    source: known,
    commit: pinned?.resolved_commit
  })
  yield* checkUses(
    (request.options?.providerBindings ?? []).map(({ connectionId }) => connectionId),
    starter,
    site
  )
  yield* openForInstall({ source: known, site, starter })
})

/** Checks everything that is known before the fetch. Returns the columns that a preflight provides. */
export const checkInstallRequest = Effect.fn("InstallPlan.check")(function* (
  workspaceId: WorkspaceId,
  request: CreateInstallPlan,
  context: CommandContext
) {
  const policy = yield* GitPolicy
  const capsules = yield* CapsuleLedger
  yield* checkMayDepend(workspaceId, request, context)
  const { adopt } = request
  if (adopt !== undefined) yield* (yield* StateAdoption).requireOwner(workspaceId, context)
  const url = fetchableAddress(request.source.url, policy)
  if (Result.isFailure(url)) return yield* invalidRequest(`source.url: ${url.failure.message}`)
  const ref = parseGitRef(request.source.ref ?? headRef)
  if (Result.isFailure(ref)) return yield* invalidRequest(`source.ref: ${ref.failure}`)
  yield* checkBounds("variables", request.variables ?? {})
  if (holdsRedactionSentinel(request.variables ?? {})) {
    return yield* invalidRequest("variables: hold the redaction mark; give the real values.")
  }
  const build = request.initialConfiguration?.sourceBuild
  if (build !== undefined && sourceBuildMaterial(build) !== undefined) {
    return yield* invalidRequest(
      "initialConfiguration.sourceBuild: contains what looks like a credential or the id of a host record. A build receives no credentials; remove it."
    )
  }
  yield* checkConnections(workspaceId, request)
  const projectId = yield* projectOf(workspaceId, request.capsule.projectId)
  if (yield* capsules.nameTaken(projectId, request.capsule.name, request.capsule.environment)) {
    return yield* failedPrecondition("A Capsule of this Project and environment has that name already.")
  }
  yield* checkProducers(workspaceId, request)
  const columns = yield* checkPreflight(workspaceId, request)
  yield* checkAuthority(workspaceId, projectId, request, context)
  return adopt === undefined ? columns : { ...columns, state_upload_id: adopt.uploadId, state_sha256: adopt.sha256 }
})
