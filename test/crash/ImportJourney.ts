import { Effect, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { SealedBackup } from "../../schema/api/SealedBackup.ts"
import { holds } from "./CrashClient.ts"
import { inBrowser } from "./ExportJourney.ts"
import type { Traveller } from "./Traveller.ts"

const decodeBackup = Schema.decodeUnknownEffect(SealedBackup)
const encodeBackup = Schema.encodeEffect(Schema.fromJsonString(SealedBackup))

/** Backs the Capsule up and releases it; what it gives uploads the backup, once for each install. */
export const uploadBackup = Effect.fn("uploadBackup")(function* (
  { client, world, ...traveller }: Traveller,
  capsuleId: string
) {
  const send = yield* inBrowser({ client, world, ...traveller })
  const { backup } = yield* client.call(({ capsules }) => capsules.backup({ params: { capsuleId }, payload: {} }))
  const file = yield* send("GET", `/api/v1/backups/${backup.id}/archive`, undefined, ({ json }) => json)
  const payload = new TextEncoder().encode(yield* encodeBackup(yield* decodeBackup(file)))
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* client.call(({ capsules }) =>
    capsules.release({ params: { capsuleId }, payload: { confirm: capsule.name, reason: "moved_elsewhere" } })
  )
  return (attempt: number) =>
    client
      .call(({ backupImports }) =>
        backupImports.upload({
          params: { workspaceId: world.workspaceId },
          query: {},
          headers: { "idempotency-key": `backup-${attempt}` },
          payload
        })
      )
      .pipe(Effect.map(({ stateUpload: { id, sha256 } }) => ({ uploadId: id, sha256 })))
}, Effect.provide(FetchHttpClient.layer))

/** An owner confirms the import. The answer to the first confirmation may have been lost with the server. */
export const confirmImport = Effect.fn("confirmImport")(function* (traveller: Traveller, capsuleId: string) {
  const { client } = traveller
  const read = Effect.map(
    client.call(({ capsules }) => capsules.read({ params: { capsuleId } })),
    ({ capsule }) => capsule
  )
  const imported = yield* read
  yield* holds(imported.status === "disabled", `The imported Capsule is ${imported.status} before its confirmation`)
  const send = yield* inBrowser(traveller)
  yield* send(
    "POST",
    `/api/v1/capsules/${capsuleId}/import-confirmation`,
    { confirm: imported.name },
    ({ json }) => json
  ).pipe(
    Effect.catchIf(
      ({ message }) => message.includes("was answered 409"),
      () => Effect.void
    )
  )
  const confirmed = yield* read
  yield* holds(
    confirmed.status === "pending" && confirmed.import?.confirmedAt !== undefined,
    `The Capsule is ${confirmed.status} after its confirmation`
  )
}, Effect.provide(FetchHttpClient.layer))
