import { expect } from "bun:test"
import { Deferred, Effect, Fiber, FileSystem, Layer } from "effect"
import { Audit } from "../../../actors/audit/Audit.ts"
import { serviceContext } from "../../../actors/Command.ts"
import { Cursors } from "../../../actors/paging/Cursors.ts"
import { FirstKeys } from "../../../actors/identity/FirstKeys.ts"
import { generateKey } from "../../../actors/identity/KeyGeneration.ts"
import { SigningKeys } from "../../../actors/identity/SigningKeys.ts"
import { Vault } from "../../../actors/vault/Vault.ts"
import { VaultSettings } from "../../../actors/vault/VaultSettings.ts"
import * as Database from "../../../src/database/Database.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { it } from "../../support/Effect.ts"

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

/** One life of the issuer's keys in a folder, with the first keys given. */
const life = <A, E, R>(folder: string, first: Layer.Layer<never>, use: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.provide(use, SigningKeys.layer.pipe(Layer.provide(first), Layer.provideMerge(storage(folder)))))

const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "svc-first-keys-" })
).pipe(Effect.provide(platform))

const keyIds = Effect.flatMap(SigningKeys, ({ keySet }) =>
  Effect.map(keySet, (keys) => keys.map(({ kid }) => kid ?? "").toSorted())
)

/** Keys that are made when the test says so. */
const held = Effect.gen(function* () {
  const active = yield* Deferred.make<void>()
  const next = yield* Deferred.make<void>()
  const made = Effect.forEach(["RS256", "ES256"] as const, generateKey)
  const begun = {
    active: Effect.andThen(Deferred.await(active), made),
    next: Effect.andThen(Deferred.await(next), made)
  }
  return {
    layer: Layer.succeed(FirstKeys, { begun }),
    releaseActive: Deferred.succeed(active, undefined),
    releaseNext: Deferred.succeed(next, undefined)
  }
})

it.live("a new installation starts while its first keys are made, and signs once they are stored", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const keys = yield* held
    const stored = yield* life(
      folder,
      keys.layer,
      Effect.gen(function* () {
        const signing = yield* SigningKeys
        expect(yield* keyIds).toEqual([])
        yield* keys.releaseActive
        yield* signing.ready
        expect((yield* keyIds).length).toBe(2)
        const jwt = yield* signing.sign("RS256", "JWT", { sub: "somebody" })
        expect((yield* signing.verify(jwt))?.claims).toEqual({ sub: "somebody" })

        // A rotation needs the keys that are not there yet, and waits for them.
        const rotation = yield* Effect.forkChild(signing.rotate(serviceContext, { compromised: true }), {
          startImmediately: true
        })
        expect(rotation.pollUnsafe()).toBeUndefined()
        yield* keys.releaseNext
        const { activeKeyIds } = yield* Fiber.join(rotation)
        expect(activeKeyIds.length).toBe(2)
        return yield* keyIds
      })
    )
    expect(stored.length).toBe(4)
    // What is begun for an installation that has keys is not waited for, and not stored.
    const again = yield* held
    expect(
      yield* life(
        folder,
        again.layer,
        Effect.andThen(
          Effect.flatMap(SigningKeys, ({ ready }) => ready),
          keyIds
        )
      )
    ).toEqual(stored)
  }).pipe(Effect.scoped)
)

it.live("a start that ended between its keys makes the missing ones before it signs", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const keys = yield* held
    yield* keys.releaseActive
    const two = yield* life(
      folder,
      keys.layer,
      Effect.andThen(
        Effect.flatMap(SigningKeys, ({ ready }) => ready),
        keyIds
      )
    )
    expect(two.length).toBe(2)
    const four = yield* life(folder, Layer.empty, keyIds)
    expect(four.length).toBe(4)
    expect(four).toEqual(expect.arrayContaining(two))
  }).pipe(Effect.scoped)
)
