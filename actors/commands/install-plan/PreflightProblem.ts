import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { isSameRef } from "../../../schema/git/RefName.ts"
import { isSameRepository } from "../../../schema/git/RepositoryAddress.ts"
import type { InstallConfigId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { ReportRow, SnapshotRow, SourceRow } from "../../ledger/source/SourceRow.ts"

/** The records that a preflight refers to; `undefined` for a record that does not exist. */
export interface NamedRecords {
  readonly source: Pick<SourceRow, "id" | "workspace_id" | "removed_at"> | undefined
  readonly snapshot: Pick<SnapshotRow, "id" | "source_id" | "url" | "ref" | "path"> | undefined
  readonly report:
    | Pick<
        ReportRow,
        "id" | "source_snapshot_id" | "created_by_run_id" | "install_config_id" | "status" | "module_path"
      >
    | undefined
  readonly run: Pick<RunRow, "id" | "type" | "status"> | undefined
}

type Present = { readonly [Name in keyof NamedRecords]: NonNullable<NamedRecords[Name]> }

/** Returns the records of one successful check in this Workspace; empty if a record is missing or belongs elsewhere. */
const exactRecords = (
  workspaceId: WorkspaceId,
  installConfigId: InstallConfigId | undefined,
  { report, run, snapshot, source }: NamedRecords
): Present | undefined =>
  source?.workspace_id === workspaceId &&
  source.removed_at === null &&
  snapshot?.source_id === source.id &&
  report?.source_snapshot_id === snapshot.id &&
  report.created_by_run_id === run?.id &&
  run.type === "compatibility_check" &&
  run.status === "succeeded" &&
  (installConfigId === undefined || installConfigId === report.install_config_id)
    ? { source, snapshot, report, run }
    : undefined

/** A request without its references to records. */
interface Request {
  readonly options?: { readonly modulePath?: string | undefined } | undefined
  readonly source: { readonly url: string; readonly ref?: string | undefined; readonly path?: string | undefined }
}

const otherThanNamed = ({ options, source }: Request, { report, snapshot }: Present): ApiError | undefined => {
  if (report.status === "unsupported") return failedPrecondition("preflight: the compatibility report is not ready.")
  if (options?.modulePath !== undefined && options.modulePath !== report.module_path) {
    return failedPrecondition("preflight: the report is of another module than options.modulePath.")
  }
  const { path, ref, url } = source
  const isSame =
    isSameRepository(url, snapshot.url) &&
    (ref === undefined || isSameRef(ref, snapshot.ref)) &&
    (path === undefined || path === snapshot.path)
  return isSame ? undefined : failedPrecondition("preflight: the snapshot is of another source than `source` names.")
}

/** Returns the records that a preflight pins, or the reason why it cannot be used. Reveals nothing about records elsewhere. */
export const pinnedRecords = (
  workspaceId: WorkspaceId,
  request: Request,
  installConfigId: InstallConfigId | undefined,
  named: NamedRecords
): Present | ApiError => {
  const exact = exactRecords(workspaceId, installConfigId, named)
  if (exact === undefined) {
    return failedPrecondition("preflight: these records are not one successful compatibility check of this Workspace.")
  }
  return otherThanNamed(request, exact) ?? exact
}
