import { describe, expect } from "bun:test"
import { Effect, FileSystem, Layer } from "effect"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { RelativePath } from "../../../schema/records/Primitives.ts"
import { applied, planned, replanned, settled } from "../../support/Journey.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../support/TestPlane.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

const build = {
  commands: [{ argv: ["sh", "-c", "mkdir out && cat words.txt > out/made.txt"] }],
  outputs: [RelativePath.make("out")]
}
const module = {
  "words.txt": "built words",
  "main.tf": `
    resource "terraform_data" "a" { input = file("\${path.module}/out/made.txt") }
    output "made" { value = terraform_data.a.output }`
}

describe.skipIf(Bun.which("terraform") === null)("a backup with what a source build made", () => {
  live(
    "is verified and restored, and its Capsule is compared with the build and planned again",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const root = yield* folder
        const mirror = yield* providerMirror
        const { commit, moveBranch, origin, url } = yield* servedRepository(`${root}/repository.git`)
        const planeOf = (dataDir: string) => Layer.fresh(planeAt({ dataDir, mirror, origins: [origin] }))
        const dataDir = `${root}/data`
        const { capsuleId, plane } = yield* Effect.gen(function* () {
          const owner = yield* newOwner("owner")
          const plane = { ...owner, dataDir, notesDir: mirror.notesDir, url, emptyUrl: url, commit, moveBranch }
          return yield* Effect.gen(function* () {
            const first = yield* planned("build", module, { initialConfiguration: { sourceBuild: build } })
            const apply = yield* applied(first.plan)
            expect([apply.status, apply.error]).toEqual(["succeeded", undefined])
            return { capsuleId: first.capsuleId, plane }
          }).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
        }).pipe(Effect.provide(planeOf(dataDir), { local: true }))

        const [archive] = yield* files.readDirectory(`${dataDir}/builds`)
        const backup = `${root}/svc.backup`
        const made = yield* svc(["backup", backup, "--data-dir", dataDir, "--json"])
        expect([made.code, JSON.parse(made.out).missing]).toEqual([0, []])
        const verified = yield* svc(["backup", "verify", backup, "--data-dir", dataDir, "--json"])
        expect(JSON.parse(verified.out)).toMatchObject({ snapshots: 1, builds: 1, absent: [], problems: [] })

        // Another machine: of the first one nothing is left but its key.
        const restored = `${root}/restored`
        const key = `${root}/master.key`
        yield* files.rename(`${dataDir}/master.key`, key)
        yield* files.remove(dataDir, { recursive: true })
        const keyFlag = ["--master-key-file", key]
        const ended = yield* svc(["restore", backup, "--data-dir", restored, ...keyFlag])
        expect([ended.code, ended.error]).toEqual([0, ""])
        expect(yield* files.readDirectory(`${restored}/builds`)).toEqual([archive ?? ""])
        const review = ["admin", "restore-review", "confirm", "--all", "--data-dir", restored, ...keyFlag]
        expect((yield* svc(review)).code).toBe(0)

        yield* files.copyFile(key, `${restored}/master.key`)
        yield* files.chmod(`${restored}/master.key`, 0o600)
        yield* Effect.gen(function* () {
          const capsules = yield* Capsules
          // The comparison builds nothing: it needs the build of the last apply.
          const drift = yield* settled((yield* capsules.driftCheck(plane.context, capsuleId)).id)
          expect([drift.status, drift.drifted, drift.error]).toEqual(["succeeded", false, undefined])
          const plan = yield* replanned(capsuleId)
          expect([plan.status, plan.error]).toEqual(["waiting_approval", undefined])
          expect(plan.planSummary).toMatchObject({ add: 0, change: 0, destroy: 0 })
          expect((yield* applied(plan)).status).toBe("succeeded")
          expect((yield* capsules.outputs(capsuleId)).map(({ value }) => value)).toEqual(["built words"])
        }).pipe(
          Effect.provideService(TestPlane, TestPlane.of({ ...plane, dataDir: restored })),
          Effect.provide(planeOf(restored), { local: true })
        )
      }),
    240_000
  )
})
