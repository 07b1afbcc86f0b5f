import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import { authorityGuard, type GuardedCapsuleRow, guardHolds } from "../../../../actors/ledger/capsule/CapsuleRow.ts"
import { CapsuleId, InstallConfigId } from "../../../../schema/records/Ids.ts"
import { seed, world } from "../../../src/http/support/World.ts"
import { suite } from "../../../support/Effect.ts"
import { testVault } from "../../../support/Vault.ts"

const tests = suite(
  CapsuleLedger.layer.pipe(Layer.provideMerge(Layer.effectDiscard(seed)), Layer.provideMerge(testVault))
)
afterAll(tests.dispose)

/** For each column that the guard covers, one change to that column. */
const moved: ReadonlyArray<Partial<GuardedCapsuleRow>> = [
  { id: CapsuleId.make("cap_bbbbbbbbbbbbbbbbbbbbbbbb") },
  { status: "stale" },
  { runtime_safety: "unknown" },
  { execution_authority_epoch: 2 },
  { install_config_id: InstallConfigId.make("icfg_bbbbbbbbbbbbbbbbbbbbbbbb") },
  { install_config_digest: "another" },
  { current_state_version_id: world.stateVersionId },
  { current_state_generation: 1 }
]

const present = Effect.gen(function* () {
  const capsule = yield* (yield* CapsuleLedger).find(world.capsuleId)
  return capsule ?? (yield* Effect.die("no Capsule"))
})

for (const change of moved) {
  tests.live(`a Capsule's guard becomes invalid when ${Object.keys(change).join()} changes`, () =>
    Effect.gen(function* () {
      const capsule = yield* present
      const guard = yield* authorityGuard(capsule)
      expect(yield* guardHolds(capsule, guard)).toBe(true)
      expect(yield* guardHolds({ ...capsule, ...change }, guard)).toBe(false)
    })
  )
}

tests.live(
  "a Capsule's guard remains valid if the Capsule's name or drift status changes, and svc rejects a forged guard",
  () =>
    Effect.gen(function* () {
      const capsule = yield* present
      const guard = yield* authorityGuard(capsule)
      const renamed = { ...capsule, name: "other", drift_status: "drifted" as const }
      expect(yield* guardHolds(renamed, guard)).toBe(true)
      for (const wrong of ["", "ag1.", guard.slice(4), `ag2.${guard.slice(4)}`, `${guard}x`]) {
        expect(yield* guardHolds(capsule, wrong)).toBe(false)
      }
    })
)
