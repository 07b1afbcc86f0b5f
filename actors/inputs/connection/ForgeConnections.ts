import { Effect, Redacted, Schema } from "effect"
import type { ForgeAccess } from "../../../runner/forge/Forge.ts"
import { isAddress, readServerAddress } from "../../../schema/git/ServerAddress.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { isWithinOrigins } from "../../../schema/records/CredentialOrigin.ts"
import { type ForgeCredential, ForgeKind } from "../../../schema/records/Forge.ts"
import type { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { now } from "../../base/Identity.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { type ConnectionSecrets, ConnectionStore, effectiveStatus, originsOf } from "./ConnectionStore.ts"
import { appKeyFile } from "./CredentialRecipes.ts"

const isForgeKind = Schema.is(ForgeKind)

const credentialOf = (row: Pick<ConnectionRow, "auth_mode">, { files, values }: ConnectionSecrets): ForgeCredential =>
  row.auth_mode === "app"
    ? {
        _tag: "App",
        appId: values["app_id"] ?? "",
        ...(values["installation_id"] === undefined ? {} : { installationId: values["installation_id"] }),
        privateKey: Redacted.make(files.find(({ name }) => name === appKeyFile)?.content ?? "")
      }
    : { _tag: "Token", token: Redacted.make(values["token"] ?? "") }

/** Returns the forge of a Connection of kind `forge`, with its credential. */
export const forgeOf = (
  row: Pick<ConnectionRow, "auth_mode" | "kind" | "origins" | "provider">,
  secrets: ConnectionSecrets
): ForgeAccess | undefined => {
  const [address] = originsOf(row)
  return row.kind === "forge" && isForgeKind(row.provider) && address !== undefined
    ? { kind: row.provider, address, credential: credentialOf(row, secrets) }
    : undefined
}

/** Returns the path of a Source's repository on its forge, such as `team/network`. */
export const repositoryPathOf = (forgeAddress: string, url: string): string | undefined => {
  const forge = readServerAddress(forgeAddress.replace(/\/$/, ""))
  const repository = readServerAddress(url)
  if (!isAddress(forge) || !isAddress(repository)) return undefined
  const path = repository.segments
    .slice(forge.segments.length)
    .join("/")
    .replace(/\.git$/, "")
  return path.includes("/") ? path : undefined
}

/** Returns the reason why a Source may not use the Connection for its pull requests. */
export const forgeConnectionProblem = (
  row: Pick<ConnectionRow, "display_name" | "kind" | "origins" | "workspace_id"> | undefined,
  workspaceId: WorkspaceId,
  url: string
): string | undefined => {
  if (row === undefined || row.workspace_id !== workspaceId || row.kind !== "forge") {
    return "the Workspace has no such forge Connection."
  }
  const origins = originsOf(row)
  const isThere = isWithinOrigins(origins, url) && repositoryPathOf(origins[0] ?? "", url) !== undefined
  return isThere
    ? undefined
    : `the Connection "${row.display_name}" is for ${origins.join(", ")}, and the repository is elsewhere.`
}

/** Fails if a Source may not use the Connection for its pull requests. */
export const checkForgeConnection = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  connectionId: ConnectionId | null | undefined,
  url: string
) {
  if (connectionId === undefined || connectionId === null) return
  const problem = forgeConnectionProblem(yield* (yield* ConnectionStore).find(connectionId), workspaceId, url)
  if (problem !== undefined) {
    return yield* new ApiError({ code: "invalid_request", message: `forgeConnectionId: ${problem}` })
  }
})

/** A Source's repository on its forge. */
export interface ForgePlace {
  readonly access: ForgeAccess
  readonly path: string
}

/** Reported if the forge Connection of a Source cannot be used. People see the message. */
export class ForgeConnectionUnusable extends Schema.TaggedError<ForgeConnectionUnusable>()("ForgeConnectionUnusable", {
  message: Schema.String
}) {}

/**
 * Opens the forge Connection of a Source. Returns `undefined` if the Source has none. Checks everything again, because the
 * Connection may have been revoked since an admin chose it.
 */
export const openForge = Effect.fn("openForge")(function* (source: {
  readonly workspace_id: WorkspaceId
  readonly url: string
  readonly forge_connection_id: ConnectionId | null
}) {
  if (source.forge_connection_id === null) return undefined
  const connections = yield* ConnectionStore
  const row = yield* connections.find(source.forge_connection_id)
  const problem = forgeConnectionProblem(row, source.workspace_id, source.url)
  if (row === undefined || problem !== undefined) {
    return yield* new ForgeConnectionUnusable({
      message: `The forge Connection cannot be used: ${problem ?? "it is gone."}`
    })
  }
  const status = effectiveStatus(row, yield* now)
  if (status === "revoked" || status === "expired" || status === "unconfirmed") {
    return yield* new ForgeConnectionUnusable({ message: `The forge Connection "${row.display_name}" is ${status}.` })
  }
  const access = forgeOf(row, Redacted.value(yield* connections.secrets(row)))
  const path = repositoryPathOf(access?.address ?? "", source.url)
  if (access === undefined || path === undefined) {
    return yield* new ForgeConnectionUnusable({ message: `The forge Connection "${row.display_name}" has no forge.` })
  }
  yield* connections.touch(row.id)
  return { access, path } satisfies ForgePlace
})
