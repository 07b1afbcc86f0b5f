import { Effect, Redacted } from "effect"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { ConnectionStore, effectiveStatus } from "../connection/ConnectionStore.ts"
import { gitCredentials } from "../connection/CredentialTest.ts"
import { TokenRenewals } from "../connection/TokenRenewals.ts"
import { now } from "../../base/Identity.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { checkGitUse, fetchStarter } from "./GitConnectionUse.ts"
import { LaneUnavailable } from "./LaneUnavailable.ts"
import { provided } from "../../base/Provided.ts"

/** The repository to fetch, and the Git Connection to fetch it with. */
export interface FetchedWith {
  readonly url: string
  readonly ref: string
  readonly authConnectionId?: ConnectionId
}

/** The authority that a fetch uses: a Run's or a person's. */
export type FetchedBy = Pick<RunRow, "workspace_id" | "source_id" | "created_by" | "trigger_kind"> &
  Partial<Pick<RunRow, "coordinator_kind">>

/**
 * Returns the credentials that a Run may send to a repository, after checking every use rule of the Connection. If there is
 * no Connection, returns no credentials.
 */
export const makeFetchCredentials = Effect.gen(function* () {
  const connections = yield* ConnectionStore
  const renewals = yield* TokenRenewals
  const store = yield* SourceStore
  const checkUse = yield* provided(checkGitUse)

  return Effect.fnUntraced(function* (run: FetchedBy, spec: FetchedWith) {
    const connectionId = spec.authConnectionId
    const workspaceId = run.workspace_id
    if (connectionId === undefined) return undefined
    const source = run.source_id === null ? undefined : yield* store.find(run.source_id)
    // The head's code never receives these credentials. Only svc itself uses them, to read the repository to which the
    // Connection is attached.
    const isReadOnly = run.coordinator_kind === "pull_request" && source !== undefined
    yield* checkUse(connectionId, fetchStarter(run, source), {
      workspaceId,
      url: spec.url,
      ref: isReadOnly ? source.default_ref : spec.ref,
      source
    }).pipe(
      Effect.mapError(
        ({ code, message }) => new LaneUnavailable({ code, message, ofRequest: run.trigger_kind === "user" })
      )
    )
    const unrenewed = (yield* renewals.renew([connectionId])).get(connectionId)
    if (unrenewed !== undefined) {
      return yield* new LaneUnavailable({
        code: "source_authentication_failed",
        message: unrenewed,
        ofRequest: false
      })
    }
    const row = yield* connections.find(connectionId)
    const status = row === undefined ? "missing" : effectiveStatus(row, yield* now)
    if (
      row === undefined ||
      row.workspace_id !== workspaceId ||
      row.kind !== "git_https" ||
      status === "revoked" ||
      status === "expired" ||
      status === "unconfirmed"
    ) {
      return yield* new LaneUnavailable({
        code: "source_authentication_failed",
        message: `The Source's Git Connection cannot be used: it is ${row?.kind === "git_https" ? status : "not an HTTPS Git Connection of this Workspace"}.`,
        ofRequest: false
      })
    }
    if (row.origins === null)
      return yield* new LaneUnavailable({
        code: "connection_origins_unconfirmed",
        message: `The Git Connection "${row.display_name}" is sent nowhere until an owner or admin confirms its origins. Confirm them under Connections, then sync again.`,
        ofRequest: false
      })
    const credentials = gitCredentials(row, Redacted.value(yield* connections.secrets(row)))
    yield* connections.touch(row.id)
    return credentials
  })
})
