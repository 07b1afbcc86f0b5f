import { describe, expect } from "bun:test"
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Redacted } from "effect"
import { SigningKeys } from "../../../../actors/access/issuer/SigningKeys.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { ExclusiveWork } from "../../../../actors/base/node/ExclusiveWork.ts"
import { Nodes } from "../../../../actors/base/node/Nodes.ts"
import { Cursors } from "../../../../actors/base/paging/Cursors.ts"
import type { SealContext } from "../../../../actors/base/vault/Sealing.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { VaultSettings } from "../../../../actors/base/vault/VaultSettings.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import * as PostgresDatabase from "../../../../src/database/postgres/PostgresDatabase.ts"
import { KeyCommands } from "../../../../src/operator/KeyCommands.ts"
import { it } from "../../../support/Effect.ts"
import { hasPostgres, migratedDatabase } from "../../../support/PostgresTests.ts"

const [keyA, keyB, keyC] = ["a1", "b2", "c3"].map((byte) => byte.repeat(32))
/** More data keys than a rotation wraps in one transaction. */
const manyKeys = 450

/** Builds the part of a server that has keys. Its first master key is the active one. */
const server = Effect.fnUntraced(function* (url: Redacted.Redacted, ...keys: ReadonlyArray<string | undefined>) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
  const parts = KeyCommands.layer.pipe(
    Layer.provide(Layer.merge(SigningKeys.layer, ExclusiveWork.layer.pipe(Layer.provideMerge(Nodes.layer)))),
    Layer.provide(Audit.layer.pipe(Layer.provide(Cursors.layer))),
    Layer.provideMerge(Vault.layer),
    Layer.provide(Layer.succeed(VaultSettings, { masterKey: { kind: "value", value: Redacted.make(keys.join(",")) } })),
    Layer.provide(PostgresDatabase.layer(url)),
    Layer.provide(DataFolder.layer(folder))
  )
  const built = yield* Layer.build(Layer.fresh(parts))
  return { vault: Context.get(built, Vault), commands: Context.get(built, KeyCommands) }
}, Effect.provide(platform))
type Server = Effect.Success<ReturnType<typeof server>>

const place = (n: number): SealContext => ({ table: `kind_${n}`, column: "c", workspaceId: "ws_1", rowId: `row_${n}` })

const sealed = ({ vault }: Server, from: number, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => from + index),
    Effect.fnUntraced(function* (n) {
      return { n, envelope: yield* vault.seal(place(n), Redacted.make(`value ${n}`)) }
    })
  )

const expectReadable = Effect.fnUntraced(function* (
  { vault }: Server,
  values: Effect.Success<ReturnType<typeof sealed>>
) {
  for (const { envelope, n } of values) {
    expect(Redacted.value(yield* vault.openText(place(n), envelope))).toBe(`value ${n}`)
  }
})

const request = { forgetRetired: false, compromised: false }

describe.skipIf(!hasPostgres)("Rotation of keys by servers that share a database", () => {
  it.live("two rotations at once wrap every data key one after the other, and every server opens every secret", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const values = yield* Effect.scoped(Effect.flatMap(server(url, keyC), (first) => sealed(first, 0, manyKeys)))
      const [one, other] = [yield* server(url, keyA, keyB, keyC), yield* server(url, keyB, keyA, keyC)]
      const [first, second] = yield* Effect.all([one.commands.rotate(request), other.commands.rotate(request)], {
        concurrency: 2
      })
      const { inUse } = yield* one.vault.keyIds
      expect(inUse).toHaveLength(1)
      // Each has found every data key under one master key.
      expect(first.rewrapped).toBe(inUse[0]?.dataKeys ?? 0)
      expect(second.rewrapped).toBe(inUse[0]?.dataKeys ?? 0)
      for (const reader of [one, other, yield* server(url, keyB, keyA)]) yield* expectReadable(reader, values)
    })
  )

  it.live("a secret that another server seals during or after a rotation is under the new master key, too", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      // The other server has the new key, but was not restarted with the new key first.
      const other = yield* server(url, keyC, keyA)
      const before = yield* sealed(other, 0, manyKeys)
      const one = yield* server(url, keyA, keyC)
      const began = yield* Deferred.make<void>()
      const writing = yield* Effect.forkChild(
        Effect.gen(function* () {
          const first = yield* sealed(other, 1000, 1)
          yield* Deferred.succeed(began, undefined)
          return [...first, ...(yield* sealed(other, 1001, 100))]
        })
      )
      yield* Deferred.await(began)
      yield* one.commands.rotate(request)
      const during = yield* Fiber.join(writing)
      const after = yield* sealed(other, 2000, 1)
      const { active, inUse } = yield* one.vault.keyIds
      expect(inUse.map(({ id }) => id)).toEqual([active])
      for (const reader of [one, other, yield* server(url, keyA)]) {
        yield* expectReadable(reader, [...before, ...during, ...after])
      }
    })
  )
})
