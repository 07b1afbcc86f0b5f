import { describe, expect, test } from "bun:test"
import { Effect, Layer, Result } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { sampleAddress, sampleFiles, sampleRevisions } from "../../../runner/git/SampleModule.ts"
import { answerSample } from "../../../runner/git/SampleRepository.ts"
import { headRef } from "../../../schema/git/GitRef.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const run = promisify(execFile)

const origin = "http://127.0.0.1:9"
const policy = { allowOrigins: [], sample: sampleAddress(origin) }
const remote = GitRemote.layer.pipe(Layer.provide(GitPolicy.layerWith(policy)))

/** Serves the sample over HTTP, exactly as the server does. */
const served = httpServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const target = (request.url ?? "").replace("/repository.git/", "")
    const isV2 = request.headers["git-protocol"] === "version=2"
    void answerSample({ method: request.method ?? "", target, isV2, body: Buffer.concat(parts) }).then((answer) => {
      response.writeHead(answer.status, { "content-type": answer.contentType }).end(answer.body)
    })
  })
})

describe("the sample repository", () => {
  test.each([
    `${origin}/samples/hello.git/../other.git`,
    `${origin}/samples/hello`,
    `${origin}/samples/hello.git.git`,
    `${origin}/samples/hello.git/info`,
    `${origin}/samples/HELLO.git`,
    `${origin}/api/v1/workspaces`,
    "http://127.0.0.1:10/samples/hello.git",
    "http://localhost:9/samples/hello.git",
    "https://127.0.0.1:9/samples/hello.git",
    `http://user:secret@127.0.0.1:9/samples/hello.git`
  ])("does not open %s to Git", (url) => {
    expect(Result.isFailure(fetchableAddress(url, policy))).toBe(true)
  })

  test("the sample repository can be fetched only on the server that serves it", () => {
    expect(Result.isSuccess(fetchableAddress(policy.sample, policy))).toBe(true)
    expect(Result.isFailure(fetchableAddress(policy.sample, { allowOrigins: [] }))).toBe(true)
  })

  it.live("the sample repository is read from memory, without a connection to its address", () =>
    Effect.gen(function* () {
      // No server listens on port 9, so a read over the network would fail.
      const url = Result.getOrThrow(fetchableAddress(policy.sample, policy))
      const service = yield* GitRemote
      const { commit } = yield* service.resolve({ url, ref: headRef })
      expect((yield* service.namedRefs({ url })).map(({ name }) => name)).toEqual([
        "main",
        ...sampleRevisions.map(({ tag }) => tag)
      ])
      const history = yield* service.history({ url, commit })
      expect(history?.get(commit)?.description.title).toBe(sampleRevisions.at(-1)?.message)
    }).pipe(Effect.provide(remote))
  )

  it.live("the sample repository can be cloned by native git", () =>
    Effect.gen(function* () {
      const { url } = yield* served
      const folder = yield* temporaryFolder
      const options = { cwd: folder, env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" } }
      const git = (...args: ReadonlyArray<string>) =>
        Effect.promise(() => run("git", args, options).then(({ stdout }) => stdout))
      yield* git("clone", "--quiet", url, "clone")
      expect(yield* git("-C", "clone", "fsck", "--strict")).toBe("")
      expect((yield* git("-C", "clone", "log", "--format=%s", "--reverse")).trim().split("\n")).toEqual(
        sampleRevisions.map(({ message }) => message)
      )
      const { module = "" } = sampleRevisions.at(-1) ?? {}
      expect(yield* git("-C", "clone", "show", "HEAD:main.tf")).toBe(sampleFiles(module)["main.tf"] ?? "")
    })
  )
})
