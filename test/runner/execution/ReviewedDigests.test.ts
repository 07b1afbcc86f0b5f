import { afterAll, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { create } from "tar"
import { executeApply } from "../../../runner/execution/ApplyExecution.ts"
import { extractBuildArchive } from "../../../runner/execution/BuildArchive.ts"
import { sha256 } from "../../../runner/execution/Digest.ts"
import type { ApplyJob } from "../../../runner/execution/RunJob.ts"
import { RunPlace } from "../../../runner/execution/RunPlace.ts"
import { Redaction } from "../../../runner/redaction/Redaction.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { suite } from "../../support/Effect.ts"

const tests = suite(
  Layer.mergeAll(
    NodeServices.layer,
    Layer.mock(Sandbox)({
      status: {
        level: "bubblewrap",
        accepted: true,
        reason: "",
        limits: { ...defaultSandboxSettings.limits, keeper: "watching" }
      },
      insideRoot: (root) => root,
      trustsTrees: false
    }),
    Layer.mock(Redaction)({}),
    Layer.mock(RunPlace)({})
  )
)
afterAll(tests.dispose)

const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "svc-digests-" })
)

tests.live("an apply rejects a plan file other than the reviewed plan file before anything else happens", () =>
  Effect.gen(function* () {
    const job: ApplyJob = {
      runId: "run_a",
      module: { snapshotDigest: "sha256:0", path: "." },
      localModules: [],
      tool: { name: "opentofu", version: "1.10.0" },
      credentials: [],
      planFile: Redacted.make(new TextEncoder().encode("another plan")),
      planDigest: sha256(new TextEncoder().encode("the reviewed plan")),
      secrets: { inputs: [], credentials: [], marked: [] }
    }
    const control = {
      runFolder: yield* temporaryFolder,
      insideRoot: "/capsule",
      cancelRequested: Effect.never,
      sink: { event: () => Effect.void, log: () => Effect.void, checkpoint: () => Effect.void },
      serverPaths: { shown: (text: string) => text, planned: (text: string) => text, add: () => {} }
    }
    const refused = yield* Effect.flip(executeApply(job, control))
    expect(refused.message).toContain(`${job.planDigest} was reviewed`)
  })
)

tests.live("an apply does not unpack a build archive other than the reviewed archive", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* temporaryFolder
    const path = `${folder}/build.tar`
    yield* files.writeFileString(`${folder}/page.html`, "built")
    yield* Effect.promise(() => create({ cwd: folder, file: path }, ["page.html"]))
    const bytes = yield* files.readFile(path)
    const archive = { path, sizeBytes: bytes.length, digest: sha256(bytes) }
    const target = `${folder}/target`
    yield* files.makeDirectory(target)
    const other = { ...archive, digest: sha256(new Uint8Array(1)) }
    expect((yield* Effect.flip(extractBuildArchive(other, target))).message).toContain("was reviewed")
    expect(yield* files.readDirectory(target)).toEqual([])
    yield* extractBuildArchive(archive, target)
    expect(yield* files.readDirectory(target)).toEqual(["page.html"])
  })
)
