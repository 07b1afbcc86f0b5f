import { Effect } from "effect"
import type { GitPolicyShape } from "../../../runner/git/GitPolicy.ts"
import { originProblem } from "../../../runner/git/FetchPolicy.ts"
import { ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { isAddress, readServerAddress } from "../../../schema/git/ServerAddress.ts"
import type { ConnectionKind } from "../../../schema/records/Connection.ts"
import { type CredentialOrigin, isWithinOrigins } from "../../../schema/records/CredentialOrigin.ts"
import type { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { ConnectionStore, originsOf, proposedOriginsOf } from "./ConnectionStore.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"

const listed = (origins: ReadonlyArray<CredentialOrigin>) => origins.join(", ")

/** Returns the reason why the origins are invalid for a Connection of this kind. */
export const originsProblem = (
  kind: ConnectionKind,
  origins: ReadonlyArray<CredentialOrigin> | undefined,
  policy: GitPolicyShape
): string | undefined => {
  if (kind === "provider")
    return origins === undefined ? undefined : "origins: only a Connection of Git or a forge has origins."
  if (kind === "forge" && origins?.length !== 1)
    return "origins: expected the one address of the forge's website, such as https://github.com."
  if (origins === undefined)
    return "origins: required for a Git Connection: the servers that may get its values, such as https://git.example.com or https://git.example.com/team/."
  for (const [index, origin] of origins.entries()) {
    const address = readServerAddress(origin)
    if (!isAddress(address)) return `origins[${index}]: ${address.problem}`
    const { scheme } = address
    if (kind === "git_ssh" ? scheme !== "ssh" : scheme === "ssh")
      return `origins[${index}]: expected ${kind === "git_ssh" ? "ssh://" : "https://"} for a Connection of kind ${kind}.`
    const problem = kind === "git_ssh" ? undefined : originProblem(address, policy)
    if (problem !== undefined) return `origins[${index}]: ${problem}`
  }
  return undefined
}

/** Returns true if these origins must still be confirmed, and false if exactly this set is already confirmed. */
export const checkConfirmation = Effect.fnUntraced(function* (
  row: Pick<ConnectionRow, "kind" | "status" | "origins" | "proposed_origins">,
  origins: ReadonlyArray<CredentialOrigin>,
  policy: GitPolicyShape
) {
  if (row.kind === "provider") return yield* failedPrecondition("Only a Git Connection has origins to confirm.")
  if (row.status === "revoked") return yield* failedPrecondition("The Connection is revoked. Create a new one.")
  if (row.origins !== null) {
    const confirmed = originsOf(row)
    if (new Set(origins).symmetricDifference(new Set(confirmed)).size === 0) return false
    return yield* new ApiError({
      code: "guard_conflict",
      message: `origins: the Connection is for ${listed(confirmed)}, which does not change any more. Read it again; for other origins create a new Connection.`
    })
  }
  const proposed = proposedOriginsOf(row).map(({ origin }) => origin)
  const other = origins.findIndex((origin) => !isWithinOrigins(proposed, origin))
  if (other !== -1)
    return yield* invalidRequest(
      `origins[${other}]: not among the proposed origins (${proposed.length === 0 ? "no Source used this Connection" : listed(proposed)}). For another origin create a new Connection.`
    )
  const problem = originsProblem(row.kind, origins, policy)
  return problem === undefined ? true : yield* invalidRequest(problem)
})

type GitConnection = Pick<ConnectionRow, "workspace_id" | "kind" | "origins" | "display_name">

/** Returns the reason why a Workspace may not use a Connection for the Git server of `url`, or `undefined` if it may. */
export const gitConnectionProblem = (
  row: GitConnection | undefined,
  workspaceId: WorkspaceId,
  url: string
): { readonly code: "invalid_request" | "failed_precondition"; readonly message: string } | undefined => {
  if (row === undefined || row.workspace_id !== workspaceId || row.kind !== "git_https")
    return { code: "invalid_request", message: "the Workspace has no such Git Connection." }
  if (row.origins === null)
    return {
      code: "failed_precondition",
      message: `the Connection "${row.display_name}" is sent nowhere until an owner or admin confirms its origins.`
    }
  const origins = originsOf(row)
  return isWithinOrigins(origins, url)
    ? undefined
    : {
        code: "invalid_request",
        message: `the Connection "${row.display_name}" is only for ${listed(origins)}, and the repository is elsewhere. Choose another Connection, or ask an admin for one with this origin.`
      }
}

/**
 * Fails if a Connection must not be used for the Git server of `url`. Call it before writing anything. `GitCredentials` checks
 * each request again.
 */
export const checkGitConnection = Effect.fnUntraced(function* (
  field: string,
  workspaceId: WorkspaceId,
  connectionId: ConnectionId | null | undefined,
  url: string
) {
  if (connectionId === undefined || connectionId === null) return
  const problem = gitConnectionProblem(yield* (yield* ConnectionStore).find(connectionId), workspaceId, url)
  if (problem !== undefined) return yield* new ApiError({ code: problem.code, message: `${field}: ${problem.message}` })
})
