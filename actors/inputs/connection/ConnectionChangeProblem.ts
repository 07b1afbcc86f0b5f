import type { UpdateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { isApply } from "../../ledger/run/RunLifecycle.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { type ConnectionSecrets, statusRemedy } from "./ConnectionStore.ts"
import { providedOf } from "./PoolCredentials.ts"
import type { StoredOAuth } from "./StoredOAuth.ts"

/** Returns the reason why a Connection in this status cannot be changed. */
export const changeProblem = ({ status }: Pick<ConnectionRow, "status">): ApiError | undefined =>
  status === "revoked" || status === "unconfirmed"
    ? failedPrecondition(`The Connection is ${status}. ${statusRemedy(status)}`)
    : undefined

/**
 * Returns the reason why a Connection from a helper cannot be changed this way. The authorization server issues its tokens
 * and, if they cannot be renewed, also determines its expiry.
 */
export const tokenProblem = (
  oauth: Pick<StoredOAuth, "helperId" | "refreshable" | "accessTokenExpiresAt"> | undefined,
  { expiresAt, files, values }: Pick<UpdateConnection, "expiresAt" | "files" | "values">
): ApiError | undefined => {
  if (oauth === undefined) return undefined
  if (values !== undefined || files !== undefined) {
    return failedPrecondition(
      `The Connection gets its values from the helper ${oauth.helperId}. Connect it again: POST /api/v1/connections/oauth/${oauth.helperId}/start with its connectionId.`
    )
  }
  const ends = oauth.refreshable ? undefined : oauth.accessTokenExpiresAt
  // `null` removes the expiry.
  if (ends === undefined || expiresAt === undefined || (expiresAt !== null && expiresAt <= ends)) return undefined
  return invalidRequest(
    `expiresAt: the access token ends at ${ends} and cannot be renewed. Connect it again for a later time.`
  )
}

/** Returns the reason why a pool's Connection cannot be changed this way: its values must be changed on the pool's agents. */
export const poolProblem = (
  row: Pick<ConnectionRow, "provided_name" | "provided_pool">,
  { files, values }: Pick<UpdateConnection, "files" | "values">
): ApiError | undefined => {
  const providedBy = providedOf(row)
  return providedBy === undefined || (values === undefined && files === undefined)
    ? undefined
    : failedPrecondition(
        `The values of this Connection stay with the agents of the pool ${providedBy.pool}, under the name ${providedBy.name}. Change them there; the next Run gets the new ones.`
      )
}

type Files = ConnectionSecrets["files"]

/**
 * If a new file names no variable, keeps the variable of the file that it replaces, because people see file names and not
 * variables.
 */
const replacedFiles = (given: Files | undefined, present: Files): Files =>
  given?.map((file) => {
    const { envName } = file.envName === undefined ? (present.find(({ name }) => name === file.name) ?? file) : file
    return envName === undefined ? file : { ...file, envName }
  }) ?? present

/** Returns the secrets after a change. If the previous secrets could not be decrypted, they are dropped. */
export const changedSecrets = (
  { files, values }: Pick<UpdateConnection, "files" | "values">,
  present: ConnectionSecrets | undefined
): ConnectionSecrets => ({
  values: values ?? present?.values ?? {},
  files: replacedFiles(files, present?.files ?? [])
})

/** Returns the reason why a Connection that is in use cannot be removed. */
export const removalProblem = (users: ReadonlyArray<string>): ApiError | undefined =>
  users.length === 0
    ? undefined
    : failedPrecondition(
        `The Connection is used by ${users.join(", ")}. Bind another one, or revoke it to end it at once.`
      )

/** Returns the Runs that a revocation stops. A running apply continues, because stopping it halfway would do more harm. */
export const runsToStop = <Run extends Pick<RunRow, "id" | "type" | "cancel_requested_at">>(
  running: ReadonlyArray<Run>
) => {
  const stoppable = running.filter(({ type }) => !isApply(type))
  return {
    toCancel: stoppable.filter((run) => run.cancel_requested_at === null),
    cancelledRunIds: stoppable.map(({ id }) => id),
    runningApplyIds: running.filter(({ type }) => isApply(type)).map(({ id }) => id)
  }
}
