import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { holds } from "./CrashClient.ts"
import { browser } from "./ExportJourney.ts"
import type { Traveller } from "./Traveller.ts"

/** The sealed backup of a Capsule that its owner releases, as on the server that the Capsule leaves. */
export const leave = Effect.fn("leave")(function* (traveller: Traveller, capsuleId: string) {
  const { client } = traveller
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  const { backup } = yield* client.call(({ capsules }) => capsules.backup({ params: { capsuleId }, payload: {} }))
  const send = yield* browser(traveller)
  const file = yield* send("GET", `/api/v1/backups/${backup.id}/archive`, undefined, ({ arrayBuffer }) => arrayBuffer)
  const release = client.call(({ capsules }) =>
    capsules.release({ params: { capsuleId }, payload: { confirm: capsule.name, reason: "moved_elsewhere" } })
  )
  // The answer may have been lost with the server; released it is in either case.
  yield* Effect.ignore(release)
  const { capsule: after } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* holds(after.status === "released", `The Capsule is ${after.status} after its release`)
  return new Uint8Array(file)
}, Effect.provide(FetchHttpClient.layer))

/** The backup as an upload, repeated under its key until the server has answered. */
export const importUpload = Effect.fnUntraced(function* (
  { client, world }: Traveller,
  file: Uint8Array,
  attempt: number
) {
  const { stateUpload } = yield* client.call(({ imports }) =>
    imports.create({
      params: { workspaceId: world.workspaceId },
      query: {},
      headers: { "idempotency-key": `import-${attempt}` },
      payload: file
    })
  )
  return { uploadId: stateUpload.id, sha256: stateUpload.sha256 }
})

/** Confirms the import of the Capsule; returns its first plan. */
export const confirmImport = Effect.fnUntraced(function* ({ acknowledged, client }: Traveller, capsuleId: string) {
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* holds(capsule.status === "disabled", `The imported Capsule is ${capsule.status} before its confirmation`)
  // A lost answer makes the repetition a refusal.
  yield* Effect.ignore(
    client.call(({ imports }) => imports.confirm({ params: { capsuleId }, payload: { confirm: capsule.name } }))
  )
  const { capsule: after } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* holds(after.import?.confirmedAt !== undefined, "The confirmation of the import is lost")
  const { stateVersion } = yield* client.call(({ runs }) =>
    runs.stateVersion({ params: { stateVersionId: capsule.currentStateVersionId ?? "" } })
  )
  acknowledged.runs.add(stateVersion.createdByRunId)
  return yield* client.settled(stateVersion.createdByRunId)
})
