import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Option, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { shellBlocks } from "../support/DocumentedBlocks.ts"
import { it } from "../support/Effect.ts"
import { svcProgram } from "../support/SvcProgram.ts"
import { services } from "./support/NetworkShell.ts"
import { shellOf } from "./support/Shell.ts"

setDefaultTimeout(120_000)

const blocks = shellBlocks("quickstart.md")
const isUnfit =
  ["bash", "curl", "jq", "terraform"].some((program) => Bun.which(program) === null) &&
  process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

/** Returns the commands that follow the start of the server on the page, adapted to a server at another address. */
const scriptFor = (url: string) =>
  [
    `SVC=${url}\n`,
    ...blocks.filter(({ mark, script }) => mark === "" && !script.startsWith("npm ")).map(({ script }) => script)
  ].join("")

describe.skipIf(isUnfit)("Quickstart", () => {
  it.live("the commands in docs/quickstart.md lead from an empty folder to outputs and a destroy plan", () =>
    Effect.gen(function* () {
      expect(blocks.filter(({ mark }) => mark !== "").map(({ mark }) => mark)).toEqual([
        "start: checkout",
        "start: package"
      ])
      const files = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-quickstart-" })
      const shell = yield* shellOf({ SVC_DATA_DIR: `${folder}/data` })
      const server = yield* spawner.spawn(
        ChildProcess.make(yield* Effect.promise(svcProgram), ["serve", "--json", "--listen", "127.0.0.1:0"], {
          cwd: folder,
          env: { ...shell.env, SVC_TOOL_DOWNLOAD: "off", SVC_RUNNER_NETWORK: "host" },
          stdin: "ignore"
        })
      )
      const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
      const { url }: { readonly url: string } = JSON.parse(Option.getOrThrow(line))
      const { code, error, out } = yield* shell.run(`set -eu\n${scriptFor(url)}`)
      expect([code, error]).toEqual([0, ""])
      expect(out).toContain('"phase": "reviewable"')
      expect(out).toContain("Apply complete! Resources: 2 added, 0 changed, 0 destroyed.")
      expect(out).toContain('"name":"greeting","type":"string","value":"Good morning, Ada!"')
      expect(out).toMatch(/"type":"destroy_plan"[^]*$/)
    }).pipe(Effect.provide(services))
  )
})
