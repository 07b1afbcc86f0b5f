import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { gunzipSync } from "node:zlib"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { BackupStore } from "../../../../actors/ledger/state/BackupStore.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { integrityFault } from "../../../../actors/base/vault/IntegrityFault.ts"
import { partBytes } from "../../../../actors/base/vault/SealedParts.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { currentState } from "../../support/OrphanedStateList.ts"
import { lengthened } from "../../support/LongStates.ts"
import { newCommit, pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { withForeignKeys, withoutForeignKeys } from "../../../support/Dialect.ts"

setDefaultTimeout(60_000)

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

describe("Long states", () => {
  tests.live("svc restores a large state from its backup after the database has lost it", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const states = yield* StateVersions
      const { capsule } = yield* active("long", pureModule)
      const first = yield* currentState(capsule.id)
      expect(yield* lengthened(first)).toStartWith("v2.")
      const capsules = yield* Capsules
      const backup = yield* capsules.backup(context, workspaceId, capsule.id)
      const archive = gunzipSync(yield* (yield* BackupStore).open(backup.id)).toString()
      expect(archive).toContain(first.id)
      expect(archive).not.toContain("v2.dk_")
      // The database still stores the state in parts.
      expect((yield* currentState(capsule.id)).state).toStartWith("v2.")

      yield* newCommit(capsule.id)
      yield* applied(yield* replanned(capsule.id))
      expect((yield* currentState(capsule.id)).id).not.toBe(first.id)
      yield* withoutForeignKeys(sql)
      yield* sql`DELETE FROM state_versions WHERE id = ${first.id}`
      yield* withForeignKeys(sql)
      expect(yield* sql`SELECT part FROM sealed_parts`).toEqual([])

      const asked = (yield* CapsuleBackups).restorePlan(context, workspaceId, backup.id, {}, undefined)
      const review = yield* settled((yield* asked).value.id)
      expect((yield* applied(review)).status).toBe("succeeded")
      const restored = Redacted.value(yield* states.open(yield* currentState(capsule.id)))
      expect(restored.length).toBeGreaterThan(2 * partBytes)
    })
  )

  tests.live("svc rejects a backup of a long state that it cannot decrypt", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const { capsule } = yield* active("damaged", pureModule)
      const value = yield* lengthened(yield* currentState(capsule.id))
      yield* sql`DELETE FROM sealed_parts WHERE value = ${value} AND part = 1`
      const refused = yield* Effect.flip((yield* Capsules).backup(context, workspaceId, capsule.id))
      expect(refused.code).toBe("failed_precondition")
      expect(yield* sql`SELECT error_code FROM runs WHERE capsule_id = ${capsule.id} AND type = 'backup'`).toEqual([
        { error_code: integrityFault.code }
      ])
      expect(yield* sql`SELECT id FROM backups WHERE capsule_id = ${capsule.id}`).toEqual([])
    })
  )
})
