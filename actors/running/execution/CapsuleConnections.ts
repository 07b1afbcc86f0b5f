import { Effect } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { ConnectionId, ProjectId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { ConnectionUses, type UseSite, type UseStarter } from "../../inputs/connection/ConnectionUses.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { isUnasked } from "../../ledger/run/PullRequestPlan.ts"
import { chosenDefault, isCommitOf } from "../../inputs/git/GitConnectionUse.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { SourceRow, SnapshotRow } from "../../ledger/source/SourceRow.ts"

/** Returns the module's path in its repository. The snapshot may contain only a subfolder. */
export const repositoryPath = (folder: string, modulePath: string): string => {
  if (folder === ".") return modulePath
  return modulePath === "." ? folder : `${folder}/${modulePath}`
}

/**
 * Returns the location of a module that has no Capsule yet. If there is no Source, the default ref is the repository's
 * default branch.
 */
export const newCapsuleSite = Effect.fn("newCapsuleSite")(function* (install: {
  readonly workspaceId: WorkspaceId
  readonly projectId: ProjectId
  readonly url: string
  readonly ref: string
  readonly folder: string
  readonly modulePath: string | undefined
  readonly source: SourceRow | undefined
  /** The commit is unknown before the fetch. */
  readonly commit: string | undefined
}) {
  const defaultRefs = chosenDefault(install.source)
  return {
    workspaceId: install.workspaceId,
    projectId: install.projectId,
    module: {
      url: install.url,
      path: install.modulePath === undefined ? undefined : repositoryPath(install.folder, install.modulePath)
    },
    ref: install.ref,
    defaultRefs,
    isOfLane: yield* isCommitOf(install.source?.id, defaultRefs, install.commit ?? install.ref)
  } satisfies UseSite
})

/**
 * Returns the location of the module that a Run of a Capsule executes, at its snapshot's ref or at a ref that has not been
 * fetched yet.
 */
export const capsuleSite = Effect.fn("capsuleSite")(function* (
  capsule: CapsuleRow,
  source: SourceRow | undefined,
  snapshot: Pick<SnapshotRow, "url" | "ref" | "path"> & Partial<Pick<SnapshotRow, "id" | "resolved_commit">>
) {
  const defaultRefs = [
    ...(capsule.adopted_ref === null ? [] : [capsule.adopted_ref]),
    ...(source === undefined ? [] : chosenDefault(source))
  ]
  const isAdopted = snapshot.id !== undefined && snapshot.id === capsule.adopted_snapshot_id
  return {
    workspaceId: capsule.workspace_id,
    projectId: capsule.project_id,
    module: { url: snapshot.url, path: repositoryPath(snapshot.path, capsule.module_path) },
    ref: snapshot.ref,
    defaultRefs,
    // Before the fetch, the commit is known only if the ref itself is a commit.
    isOfLane: isAdopted || (yield* isCommitOf(source?.id, defaultRefs, snapshot.resolved_commit ?? snapshot.ref))
  } satisfies UseSite
})

/**
 * Returns the authority with which a Run of a Capsule uses Connections. Automatic Runs use the authority of the person who
 * enabled the automation.
 */
export const starterOf = (
  run: Pick<RunRow, "created_by" | "purpose" | "trigger_kind">,
  capsule: CapsuleRow
): UseStarter =>
  run.trigger_kind === "auto_update"
    ? { subject: capsule.auto_update_by ?? undefined, automatic: true }
    : { subject: run.created_by ?? undefined, automatic: run.trigger_kind === "schedule" || isUnasked(run) }

/** Checks the use rule of each Connection, and records a refusal in the Run. */
export const checkUses = Effect.fn("checkUses")(function* (
  connectionIds: ReadonlyArray<ConnectionId>,
  starter: UseStarter,
  site: UseSite
): Effect.fn.Return<void, ApiError, ConnectionStore | ConnectionUses> {
  const connections = yield* ConnectionStore
  const uses = yield* ConnectionUses
  for (const id of new Set(connectionIds)) {
    const row = yield* connections.find(id)
    if (row !== undefined) yield* uses.grant(row, starter, site)
  }
})
