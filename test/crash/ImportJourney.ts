import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { holds } from "./CrashClient.ts"
import { browser } from "./ExportJourney.ts"
import type { Traveller } from "./Traveller.ts"

/**
 * Downloads the sealed backup of a Capsule and then releases the Capsule, as an owner does before moving a Capsule to
 * another server.
 */
export const leave = Effect.fn("leave")(function* (traveller: Traveller, capsuleId: string) {
  const { client } = traveller
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  const { backup } = yield* client.call(({ capsules }) => capsules.backup({ params: { capsuleId }, payload: {} }))
  const send = yield* browser(traveller)
  const file = yield* send("GET", `/api/v1/backups/${backup.id}/archive`, undefined, ({ arrayBuffer }) => arrayBuffer)
  const release = client.call(({ capsules }) =>
    capsules.release({ params: { capsuleId }, payload: { confirm: capsule.name, reason: "moved_elsewhere" } })
  )
  // The Capsule is released even if the server was killed before it sent the response.
  yield* Effect.ignore(release)
  const { capsule: after } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* holds(after.status === "released", `The Capsule is ${after.status} after its release`)
  return new Uint8Array(file)
}, Effect.provide(FetchHttpClient.layer))

/** Uploads the backup, retrying with the same key until the server has responded. */
export const importUpload = Effect.fnUntraced(function* (
  { client, world }: Traveller,
  file: Uint8Array,
  attempt: number
) {
  const { stateUpload } = yield* client.call(({ backupImports }) =>
    backupImports.upload({
      params: { workspaceId: world.workspaceId },
      query: {},
      headers: { "idempotency-key": `import-${attempt}` },
      payload: file
    })
  )
  return { uploadId: stateUpload.id, sha256: stateUpload.sha256 }
})

/** Confirms the Capsule's import, in an owner's session. */
export const confirmImport = Effect.fn("confirmImport")(function* (traveller: Traveller, capsuleId: string) {
  const { client } = traveller
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* holds(capsule.status === "disabled", `The imported Capsule is ${capsule.status} before its confirmation`)
  const send = yield* browser(traveller)
  const path = `/api/v1/capsules/${capsuleId}/import-confirmation`
  // If the response was lost, the server refuses the retry.
  yield* Effect.ignore(send("POST", path, { confirm: capsule.name }, ({ text }) => text))
  const { capsule: after } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* holds(after.status === "pending", `The imported Capsule is ${after.status} after its confirmation`)
}, Effect.provide(FetchHttpClient.layer))
