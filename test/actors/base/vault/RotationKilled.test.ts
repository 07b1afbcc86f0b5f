import { expect } from "bun:test"
import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { SealContext } from "../../../../actors/base/vault/Sealing.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { VaultSettings } from "../../../../actors/base/vault/VaultSettings.ts"
import * as Database from "../../../../src/database/Database.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { bundledProgram } from "../../../support/BundledProgram.ts"
import { it } from "../../../support/Effect.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"

// More than a rotation processes in two batches.
const kinds = 410
const program = new URL("./support/RotateAndDie.ts", import.meta.url)

const vaultIn = (folder: string) =>
  Layer.fresh(
    Vault.layer.pipe(
      Layer.provide(
        Layer.succeed(VaultSettings, { masterKey: { kind: "file", file: `${folder}/master.key`, create: true } })
      ),
      Layer.provideMerge(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))),
      Layer.provide(NodeCrypto.layer)
    )
  )

const place = (n: number): SealContext => ({ table: `kind_${n}`, column: "c", workspaceId: "ws_a", rowId: `row_${n}` })

/** Seals one value of each kind, each with its own data key. */
const sealAll = Effect.gen(function* () {
  const vault = yield* Vault
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(
    Array.from({ length: kinds }, (_, n) => n),
    (n) => vault.seal(place(n), Redacted.make(`value ${n}`))
  ).pipe(sql.withTransaction)
})

const unreadable = Effect.fnUntraced(function* (envelopes: ReadonlyArray<string>) {
  const vault = yield* Vault
  const values = yield* Effect.forEach(envelopes, (envelope, n) => Effect.option(vault.openText(place(n), envelope)))
  return values.filter((found, n) => found._tag === "None" || Redacted.value(found.value) !== `value ${n}`).length
})

/** Rotates the key in a separate process that is killed at the given step. Returns true if the rotation finished first. */
const rotatedWithFuse = (folder: string, step: number) =>
  Effect.promise(async () => {
    const command = [process.execPath, await bundledProgram(program), folder, String(step)]
    const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" })
    const [errors] = await Promise.all([new Response(child.stdout).text(), child.exited])
    if (child.signalCode === "SIGKILL") return false
    expect([step, child.exitCode, errors]).toEqual([step, 0, ""])
    return true
  })

it.live(
  "a rotation killed at any step leaves every value readable, and the next rotation completes it",
  () =>
    Effect.gen(function* () {
      const folder = yield* migratedFolder
      const envelopes = yield* sealAll.pipe(Effect.provide(vaultIn(folder)))
      const resumed: Array<boolean> = []
      for (let step = 1; !(yield* rotatedWithFuse(folder, step)); step++) {
        yield* Effect.gen(function* () {
          expect([step, yield* unreadable(envelopes)]).toEqual([step, 0])
          const vault = yield* Vault
          const rotation = yield* vault.rotateMasterKey({ forgetRetired: true })
          resumed.push(rotation.resumed)
          // After the completed rotation, the current key opens every value without the old key.
          const { active, decryptOnly, inUse } = yield* vault.keyIds
          expect([decryptOnly, inUse.map(({ id }) => id)]).toEqual([[], [active]])
        }).pipe(Effect.provide(vaultIn(folder)))
        expect([step, yield* unreadable(envelopes).pipe(Effect.provide(vaultIn(folder)))]).toEqual([step, 0])
      }
      // The kills must cover these points: before the new key exists, between batches, and just before the old key is forgotten.
      expect(resumed[0]).toBe(false)
      expect(resumed.filter((each) => each).length).toBeGreaterThanOrEqual(3)
      expect(resumed.at(-1)).toBe(false)
      expect(yield* unreadable(envelopes).pipe(Effect.provide(vaultIn(folder)))).toBe(0)
    }).pipe(Effect.provide(NodeServices.layer)),
  120_000
)
