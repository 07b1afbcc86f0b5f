import { expect } from "bun:test"
import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { Effect, Fiber, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { SealContext } from "../../../../actors/base/vault/Sealing.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { type MasterKeySource, VaultSettings } from "../../../../actors/base/vault/VaultSettings.ts"
import * as Database from "../../../../src/database/Database.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { it } from "../../../support/Effect.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"

const platform = Effect.provide(NodeServices.layer)

/** Reopens a vault on the same data folder, as a restart does. */
const vaultIn = (folder: string, masterKey: MasterKeySource) =>
  Layer.fresh(
    Vault.layer.pipe(
      Layer.provide(Layer.succeed(VaultSettings, { masterKey })),
      Layer.provideMerge(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))),
      Layer.provide(NodeCrypto.layer)
    )
  )

const start = (folder: string, masterKey: MasterKeySource) => Effect.scoped(Layer.build(vaultIn(folder, masterKey)))
const file = (folder: string): MasterKeySource => ({ kind: "file", file: `${folder}/master.key`, create: true })
const value = (...keys: ReadonlyArray<string>): MasterKeySource => ({
  kind: "value",
  value: Redacted.make(keys.join(","))
})

const place = (n: number): SealContext => ({
  table: `kind_${n % 5}`,
  column: "c",
  workspaceId: `ws_${n % 7}`,
  rowId: `row_${n}`
})
const sealSome = (count: number) =>
  Effect.gen(function* () {
    const vault = yield* Vault
    return yield* Effect.forEach(
      Array.from({ length: count }, (_, n) => n),
      (n) => vault.seal(place(n), Redacted.make(`value ${n}`))
    )
  })
const expectReadable = (envelopes: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const vault = yield* Vault
    for (const [n, envelope] of envelopes.entries()) {
      expect(Redacted.value(yield* vault.openText(place(n), envelope))).toBe(`value ${n}`)
    }
  })

const keyA = "a1".repeat(32)
const keyB = Buffer.from("b2".repeat(32), "hex").toString("base64")
const keyC = Buffer.from("fb".repeat(32), "hex").toString("base64url")

it.live("the master key file is created only once, and values sealed with it can be opened after a restart", () =>
  Effect.gen(function* () {
    const folder = yield* migratedFolder
    const envelopes = yield* sealSome(10).pipe(Effect.provide(vaultIn(folder, file(folder))))
    yield* expectReadable(envelopes).pipe(Effect.provide(vaultIn(folder, file(folder))))
  }).pipe(platform)
)

it.live(
  "a lost master key is never replaced while sealed values exist; instead, startup fails and reports the key id",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* migratedFolder
      const { active } = yield* Effect.flatMap(Vault, (vault) => vault.keyIds).pipe(
        Effect.provide(vaultIn(folder, file(folder)))
      )
      yield* fs.remove(`${folder}/master.key`)
      const lost = yield* Effect.flip(start(folder, file(folder)))
      expect(lost).toMatchObject({ _tag: "VaultLocked", keyIds: [active] })
      expect(lost.message).toContain(active)
      expect(yield* fs.exists(`${folder}/master.key`)).toBe(false)
      const other = yield* Effect.flip(start(folder, value(keyA)))
      expect(other).toMatchObject({ _tag: "VaultLocked", keyIds: [active] })
    }).pipe(platform)
)

it.live("rotation re-encrypts every data key under the new master key, but changes no value and no digest", () =>
  Effect.gen(function* () {
    const folder = yield* migratedFolder
    const [envelopes, digest] = yield* Effect.gen(function* () {
      const vault = yield* Vault
      const sealed = yield* sealSome(40)
      const mac = yield* vault.mac("cursor", "x")
      const before = yield* vault.keyIds
      const rotation = yield* vault.rotateMasterKey()
      const after = yield* vault.keyIds
      expect(rotation).toMatchObject({ activeKeyId: after.active, rewrapped: 36, resumed: false })
      expect(after.active).not.toBe(before.active)
      expect(after.decryptOnly).toEqual([before.active])
      expect(after.inUse).toEqual([{ id: after.active, dataKeys: 36 }])
      yield* expectReadable(sealed)
      return [sealed, mac] as const
    }).pipe(Effect.provide(vaultIn(folder, file(folder))))
    yield* Effect.gen(function* () {
      yield* expectReadable(envelopes)
      const vault = yield* Vault
      expect(yield* vault.mac("cursor", "x")).toBe(digest)
      const { forgotten } = yield* vault.rotateMasterKey({ forgetRetired: true })
      expect(forgotten.length).toBe(2)
      expect((yield* vault.keyIds).decryptOnly).toEqual([])
    }).pipe(Effect.provide(vaultIn(folder, file(folder))))
    yield* expectReadable(envelopes).pipe(Effect.provide(vaultIn(folder, file(folder))))
  }).pipe(platform)
)

it.live("a rotation that stops at any step leaves everything readable, and the next rotation completes it", () =>
  Effect.gen(function* () {
    const folder = yield* migratedFolder
    const envelopes = yield* sealSome(35).pipe(Effect.provide(vaultIn(folder, file(folder))))
    // Number of statements that succeed before the simulated crash.
    for (let allowed = 0; allowed < 3; allowed++) {
      yield* Effect.gen(function* () {
        const vault = yield* Vault
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe(
          `CREATE TRIGGER stop BEFORE UPDATE OF wrapped_key ON vault_data_keys
           WHEN (SELECT COUNT(*) FROM vault_data_keys WHERE master_key_id = NEW.master_key_id) >= ${allowed * 15}
           BEGIN SELECT RAISE(ABORT, 'power cut'); END`
        )
        const exit = yield* Effect.exit(vault.rotateMasterKey())
        expect(exit._tag).toBe("Failure")
        yield* sql`DROP TRIGGER stop`
      }).pipe(Effect.provide(vaultIn(folder, file(folder))))
      yield* Effect.gen(function* () {
        yield* expectReadable(envelopes)
        const rotation = yield* Effect.flatMap(Vault, (vault) => vault.rotateMasterKey())
        expect(rotation).toMatchObject({ resumed: true, rewrapped: 36 })
        yield* expectReadable(envelopes)
      }).pipe(Effect.provide(vaultIn(folder, file(folder))))
    }
  }).pipe(platform)
)

it.live("values sealed and opened during a rotation all remain readable", () =>
  Effect.gen(function* () {
    const folder = yield* migratedFolder
    const early = yield* sealSome(40).pipe(Effect.provide(vaultIn(folder, file(folder))))
    const envelopes = yield* Effect.gen(function* () {
      const vault = yield* Vault
      const sealing = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 200 }, (_, n) => n),
          (n) => Effect.tap(vault.seal({ ...place(n), table: `late_${n}` }, Redacted.make("v")), () => Effect.yieldNow),
          { concurrency: 8 }
        )
      )
      let opened = 0
      const opening = yield* Effect.forkChild(
        Effect.forever(
          Effect.gen(function* () {
            const n = opened++ % 40
            expect(Redacted.value(yield* vault.openText(place(n), early[n] ?? ""))).toBe(`value ${n}`)
            yield* Effect.yieldNow
          })
        )
      )
      for (let n = 0; n < 5; n++) yield* vault.rotateMasterKey({ forgetRetired: n % 2 === 0 })
      const sealed = yield* Fiber.join(sealing)
      expect(opened).toBeGreaterThan(0)
      // The reader is still running, so every value could be opened throughout the rotation.
      expect(opening.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(opening)
      yield* vault.rotateMasterKey({ forgetRetired: true })
      return sealed
    }).pipe(Effect.provide(vaultIn(folder, file(folder))))
    yield* Effect.gen(function* () {
      const vault = yield* Vault
      for (const [n, envelope] of envelopes.entries()) {
        expect(Redacted.value(yield* vault.openText({ ...place(n), table: `late_${n}` }, envelope))).toBe("v")
      }
      yield* expectReadable(early)
    }).pipe(Effect.provide(vaultIn(folder, file(folder))))
  }).pipe(platform)
)

it.live(
  "the first key in the environment seals values, the other keys only open them, and a rotation makes the other keys obsolete",
  () =>
    Effect.gen(function* () {
      const folder = yield* migratedFolder
      const envelopes = yield* sealSome(8).pipe(Effect.provide(vaultIn(folder, value(keyA))))
      const refused = yield* Effect.flatMap(Vault, (vault) => Effect.flip(vault.rotateMasterKey())).pipe(
        Effect.provide(vaultIn(folder, value(keyA)))
      )
      expect(refused._tag).toBe("VaultLocked")
      // Startup rejects a configuration whose old key was removed too early.
      const early = yield* Effect.flip(start(folder, value(keyB)))
      expect(early._tag).toBe("VaultLocked")
      yield* Effect.gen(function* () {
        yield* expectReadable(envelopes)
        expect((yield* Effect.flatMap(Vault, (vault) => vault.rotateMasterKey())).resumed).toBe(true)
      }).pipe(Effect.provide(vaultIn(folder, value(keyB, keyA))))
      yield* expectReadable(envelopes).pipe(Effect.provide(vaultIn(folder, value(keyB))))
    }).pipe(platform)
)

it.live("a command can supply the master key", () =>
  Effect.gen(function* () {
    const folder = yield* migratedFolder
    const command = (text: string): MasterKeySource => ({ kind: "command", command: text })
    const envelopes = yield* sealSome(2).pipe(Effect.provide(vaultIn(folder, command(`echo '${keyC}'`))))
    yield* expectReadable(envelopes).pipe(Effect.provide(vaultIn(folder, value(keyC))))
    const failed = yield* Effect.flip(start(folder, command(`echo '${keyC}'; exit 3`)))
    expect(failed.message).toContain("exit code 3")
  }).pipe(platform)
)

it.live("startup rejects a malformed master key without quoting it", () =>
  Effect.gen(function* () {
    const folder = yield* migratedFolder
    const secretish = "correct-horse-battery-staple"
    for (const text of [
      "",
      secretish,
      keyA.slice(2),
      `${keyA},${keyA}`,
      `{"version":1,"keys":[{"key":"${secretish}"}]}`
    ]) {
      const error = yield* Effect.flip(start(folder, value(text)))
      expect(error._tag).toBe("VaultLocked")
      expect(`${error.message} ${Bun.inspect(error)}`).not.toContain(secretish)
      expect(`${error.message} ${Bun.inspect(error)}`).not.toContain(keyA)
    }
  }).pipe(platform)
)

it.live("startup rejects a master key file that other users can read", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* migratedFolder
    yield* start(folder, file(folder))
    yield* fs.chmod(`${folder}/master.key`, 0o640)
    const error = yield* Effect.flip(start(folder, file(folder)))
    expect(error.message).toContain("chmod 600")
  }).pipe(platform)
)
