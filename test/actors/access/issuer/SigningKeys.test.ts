import { expect } from "bun:test"
import { Deferred, Effect, Exit, Fiber, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { Cursors } from "../../../../actors/base/paging/Cursors.ts"
import { KeyGeneration, SigningKeys } from "../../../../actors/access/issuer/SigningKeys.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { VaultSettings } from "../../../../actors/base/vault/VaultSettings.ts"
import * as Database from "../../../../src/database/Database.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { it } from "../../../support/Effect.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"

const storage = (folder: string) =>
  Audit.layer.pipe(
    Layer.provide(Cursors.layer),
    Layer.provideMerge(Vault.layer),
    Layer.provide(
      Layer.succeed(VaultSettings, { masterKey: { kind: "file", file: `${folder}/master.key`, create: true } })
    ),
    Layer.provideMerge(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))),
    Layer.provideMerge(platform)
  )

/** Runs `use` in a simulated process of an issuer that stores its keys in `folder`. */
const life = <A, E, R>(folder: string, use: Effect.Effect<A, E, R>, generation: Layer.Layer<never> = Layer.empty) =>
  Effect.scoped(
    Effect.provide(use, SigningKeys.layer.pipe(Layer.provide(generation), Layer.provideMerge(storage(folder))))
  )

const temporaryFolder = migratedFolder.pipe(Effect.provide(platform))

const keyIds = Effect.flatMap(SigningKeys, ({ keySet }) =>
  Effect.map(keySet, (keys) => keys.map(({ kid }) => kid ?? "").toSorted())
)

const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ status: string }>`SELECT status FROM oidc_signing_keys ORDER BY status`
  return rows.map(({ status }) => status)
})

/** Delays key generation until the test allows it. `begun` resolves at the first request for a key. */
const held = Effect.gen(function* () {
  const { generate } = yield* KeyGeneration
  const made = yield* Latch.make()
  const begun = yield* Deferred.make<void>()
  const layer = Layer.succeed(KeyGeneration, {
    generate: (algorithm) =>
      Deferred.succeed(begun, undefined).pipe(Effect.andThen(made.await), Effect.andThen(generate(algorithm)))
  })
  return { layer, begun: Deferred.await(begun), release: made.open }
})

const claims = { sub: "somebody" }

it.live(
  "a new installation starts before its keys are generated, and reads and rotations of the key set wait for the keys",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const keys = yield* held
      const first = yield* life(
        folder,
        Effect.gen(function* () {
          const signing = yield* SigningKeys
          yield* keys.begun
          const since = yield* Effect.forkChild(signing.activeSince, { startImmediately: true })
          const asked = yield* Effect.forkChild(keyIds, { startImmediately: true })
          const rotation = yield* Effect.forkChild(signing.rotate(serviceContext, { compromised: true }), {
            startImmediately: true
          })
          expect(yield* stored).toEqual([])
          expect([since, asked, rotation].map((fiber) => fiber.pollUnsafe())).toEqual([undefined, undefined, undefined])
          yield* keys.release
          expect((yield* Fiber.join(asked)).length).toBe(4)
          expect(yield* Fiber.join(since)).toMatch(/^\d{4}-/)
          expect((yield* Fiber.join(rotation)).activeKeyIds.length).toBe(2)
          return yield* keyIds
        }),
        keys.layer
      )
      expect(first.length).toBe(4)
      // An installation that already has keys does not generate new keys.
      const again = yield* held
      expect(yield* life(folder, keyIds, again.layer)).toEqual(first)
    }).pipe(Effect.scoped)
)

/**
 * In a new installation, runs a transaction that signs a JWT before any key is stored and then runs `end` with the JWT. The
 * transaction locks the database, so the keys cannot be stored before the transaction finishes. `afterwards` receives the
 * transaction's result.
 */
const signedAhead = <A, E, R>(
  end: (jwt: string) => Effect.Effect<A, E>,
  afterwards: (ended: Exit.Exit<A, E>) => Effect.Effect<void, unknown, R>
) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const keys = yield* held
    const use = Effect.gen(function* () {
      const signing = yield* SigningKeys
      const sql = yield* SqlClient.SqlClient
      const inside = yield* Deferred.make<void>()
      const signed = yield* Deferred.succeed(inside, undefined).pipe(
        Effect.andThen(signing.sign("RS256", "JWT", claims)),
        Effect.flatMap(end),
        transaction(sql),
        Effect.forkChild
      )
      yield* Deferred.await(inside)
      yield* keys.release
      yield* afterwards(yield* Fiber.await(signed))
    })
    yield* life(folder, use, keys.layer)
  }).pipe(Effect.scoped)

it.live("a JWT signed before its key is stored can be verified after the transaction that stores the key commits", () =>
  signedAhead(
    Effect.succeed,
    Effect.fnUntraced(function* (ended) {
      const { verify } = yield* SigningKeys
      const jwt = yield* ended
      expect((yield* verify(jwt))?.claims).toEqual(claims)
      // Storing the keys a second time has no effect.
      expect((yield* keyIds).length).toBe(4)
      expect((yield* verify(jwt))?.claims).toEqual(claims)
      expect(yield* stored).toEqual(["active", "active", "next", "next"])
    })
  )
)

it.live("keys stored in a transaction that rolls back are stored again later", () =>
  signedAhead(
    () => Effect.fail("refused"),
    Effect.fnUntraced(function* (ended) {
      const { sign, verify } = yield* SigningKeys
      expect(ended).toEqual(Exit.fail("refused"))
      expect((yield* keyIds).length).toBe(4)
      expect((yield* verify(yield* sign("RS256", "JWT", claims)))?.claims).toEqual(claims)
    })
  )
)

it.live("startup stores the signing keys that an earlier, interrupted startup did not store", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const keys = yield* held
    expect(yield* life(folder, Effect.andThen(keys.begun, stored), keys.layer)).toEqual([])
    const [four, two] = yield* life(
      folder,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const all = yield* keyIds
        yield* sql`DELETE FROM oidc_signing_keys WHERE status = 'next'`
        return [all, yield* keyIds]
      })
    )
    expect([four?.length, two?.length]).toEqual([4, 2])
    const again = yield* life(folder, keyIds)
    expect(again.length).toBe(4)
    expect(again).toEqual(expect.arrayContaining(two ?? []))
  }).pipe(Effect.scoped)
)
