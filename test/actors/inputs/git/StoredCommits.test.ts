import { expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { SourceStore } from "../../../../actors/ledger/source/SourceStore.ts"
import { placeOf } from "../../../../src/database/BackupManifest.ts"
import { it } from "../../../support/Effect.ts"
import { active, applied, replanned, settled } from "../../../support/Journey.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const module = { "main.tf": `resource "terraform_data" "a" { input = "first" }` }

/** Flips one bit in the middle of a file. */
const damage = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const bytes = yield* files.readFile(file)
  const at = Math.floor(bytes.length / 2)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  yield* files.writeFile(file, bytes)
  return Buffer.from(bytes)
})

it.live(
  "svc refetches deleted or damaged files of an adopted commit, and never accepts different files in their place",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const mirror = yield* providerMirror
      const gitdir = `${folder}/repository.git`
      const { commit, moveBranch, origin, url } = yield* servedRepository(gitdir)
      const dataDir = `${folder}/data`
      yield* Effect.gen(function* () {
        const owner = yield* newOwner("owner")
        const plane = { ...owner, dataDir, notesDir: mirror.notesDir, url, commit, moveBranch }
        yield* Effect.gen(function* () {
          const capsules = yield* CapsuleCommands
          const { capsule } = yield* active("steady", module)
          const snapshot = yield* (yield* SourceStore).findSnapshot(
            capsule.adoptedSourceRevision?.sourceSnapshotId ?? null
          )
          const digest = snapshot?.archive_digest ?? ""
          const archive = `${dataDir}/${placeOf({ kind: "snapshot", digest })}`
          const whole = Buffer.from(yield* files.readFile(archive))
          const destroyPlan = Effect.gen(function* () {
            return yield* settled((yield* capsules.DestroyPlan(capsule.id, { context: owner.context })).value.id)
          })

          yield* files.remove(archive)
          expect((yield* replanned(capsule.id)).status).toBe("waiting_approval")
          expect(Buffer.from(yield* files.readFile(archive)).equals(whole)).toBe(true)

          // The server has already read the archive once, but must verify its contents on every read.
          yield* damage(archive)
          const plan = yield* replanned(capsule.id)
          expect(plan.status).toBe("waiting_approval")
          expect(Buffer.from(yield* files.readFile(archive)).equals(whole)).toBe(true)

          // The file is also damaged between review and apply; the apply still uses the reviewed bytes.
          yield* damage(archive)
          expect((yield* applied(plan)).status).toBe("succeeded")

          // svc does not accept a different repository at the same address, and does not execute a damaged file.
          yield* files.rename(gitdir, `${gitdir}.gone`)
          const damaged = yield* damage(archive)
          const refused = yield* replanned(capsule.id)
          expect([refused.status, refused.error?.code, refused.error?.message]).toEqual([
            "failed",
            "snapshot_unavailable",
            expect.stringMatching(
              /The files of commit [0-9a-f]{40} are damaged, and they cannot be fetched again from /
            )
          ])
          expect(Buffer.from(yield* files.readFile(archive)).equals(damaged)).toBe(true)
          yield* files.remove(archive)
          const destroy = yield* destroyPlan
          expect([destroy.error?.code, destroy.error?.message]).toEqual([
            "snapshot_unavailable",
            expect.stringContaining("are not stored here any more")
          ])

          yield* files.rename(`${gitdir}.gone`, gitdir)
          // The branch's head has changed, so svc fetches the recorded commit instead of the branch's head.
          yield* commit("steady", { "main.tf": `resource "terraform_data" "a" { input = "second" }` })
          expect((yield* destroyPlan).status).toBe("waiting_approval")
          expect(Buffer.from(yield* files.readFile(archive)).equals(whole)).toBe(true)

          // Simulates a repository that returns different files for the same commit.
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE source_snapshots SET archive_digest = ${`sha256:${"0".repeat(64)}`} WHERE archive_digest = ${digest}`
          const other = yield* destroyPlan
          expect([other.error?.code, other.error?.message]).toEqual([
            "snapshot_unavailable",
            expect.stringContaining("The commit has other contents there")
          ])
        }).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
      }).pipe(Effect.provide(planeAt({ dataDir, mirror, origins: [origin] })))
    }).pipe(Effect.provide(platform)),
  120_000
)
