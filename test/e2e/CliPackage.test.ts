import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { cliPackage } from "../../scripts/packages/CliPackage.ts"
import { it } from "../support/Effect.ts"
import { hostedServer } from "./support/HostedServer.ts"
import { services } from "./support/NetworkShell.ts"
import { shellOf } from "./support/Shell.ts"

setDefaultTimeout(120_000)

const root = fileURLToPath(new URL("../../", import.meta.url))
const isReady = ["node", "npm", "bash"].every((program) => Bun.which(program) !== null)

/** An empty project with the packed package installed, and a shell in it for a person with a token for a server. */
const project = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-cli-package-" })
  yield* cliPackage(root, `${folder}/cli`)
  const server = yield* hostedServer({ "main.tf": "" })
  const shell = yield* shellOf({ SVC_URL: server.url, SVC_TOKEN: Redacted.value(server.token) })
  const done = Effect.fnUntraced(function* (cwd: string, args: ReadonlyArray<string>) {
    const child = yield* spawner.spawn(
      ChildProcess.make("npm", args, {
        cwd,
        stdout: "ignore",
        stderr: "ignore",
        env: { HOME: shell.home },
        extendEnv: true
      })
    )
    expect([args, Number(yield* child.exitCode)]).toEqual([args, 0])
  })
  yield* done(`${folder}/cli`, ["pack", "--pack-destination", shell.home])
  const [tarball = ""] = (yield* files.readDirectory(shell.home)).filter((name) => name.endsWith(".tgz"))
  yield* files.writeFileString(`${shell.home}/package.json`, '{"private":true}')
  yield* done(shell.home, ["install", "--offline", "--no-audit", "--no-fund", `./${tarball}`])
  return { shell }
})

describe.skipIf(!isReady && process.env["SVC_TEST_REQUIRE_ALL"] !== "1")("the package of the command line", () => {
  it.live("needs nothing else, and behaves like the binary", () =>
    Effect.gen(function* () {
      const { shell } = yield* project
      const own = "node_modules/.bin/svc"
      expect((yield* shell.run("ls node_modules")).out).toBe("@svc-dev\n")
      const who = yield* shell.run(`${own} whoami --json`)
      expect([who.code, JSON.parse(who.out).subject.email]).toEqual([0, "ada@example.test"])
      for (const line of ["plan --help", "run list --json", "export --help", "plan", "run get nothing --json"]) {
        const [packed, shipped] = [yield* shell.run(`${own} ${line}`), yield* shell.run(`svc ${line}`)]
        expect([line, packed.code, packed.out, packed.error]).toEqual([line, shipped.code, shipped.out, shipped.error])
      }
    }).pipe(Effect.scoped, Effect.provide(services))
  )
})
