import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem } from "effect"
import { fileURLToPath } from "node:url"
import { cliPackage } from "../../scripts/packages/CliPackage.ts"
import { it } from "../support/Effect.ts"
import { isIncomplete, network, services } from "./support/NetworkShell.ts"

setDefaultTimeout(120_000)

const root = fileURLToPath(new URL("../../", import.meta.url))
const isReady = ["node", "npm"].every((program) => Bun.which(program) !== null)

/** Commands from the README: installing the package, and everyday use. */
const readmeLines = (text: string) =>
  [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block.trim().split("\n"))

/**
 * Creates a home folder in which the package is installed as its README describes, and a server with the README's module.
 */
const installed = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-cli-package-" })
  yield* cliPackage(root, `${folder}/cli`)
  const { run, shell } = yield* network
  const [[install = ""] = [], work = []] = readmeLines(yield* files.readFileString(`${folder}/cli/README.md`))
  const options = `npm_config_prefix="$HOME/npm" npm_config_offline=true npm_config_audit=false`
  const line = `(cd ${folder}/cli && npm pack --silent --pack-destination "$HOME") && ${options} ${install}`
  expect(yield* shell.run(line)).toMatchObject({ code: 0 })
  return { run: (each: string) => run(`PATH="$HOME/npm/bin:$PATH"; ${each}`), shell, work }
})

describe.skipIf((!isReady && process.env["SVC_TEST_REQUIRE_ALL"] !== "1") || isIncomplete)(
  "Command line package",
  () => {
    it.live("the installed package needs no other program, and works like the binary", () =>
      Effect.gen(function* () {
        const { run, shell, work } = yield* installed
        expect((yield* run("command -v svc")).out).toBe(`${shell.home}/npm/bin/svc\n`)
        expect((yield* shell.run("ls npm/lib/node_modules npm/lib/node_modules/@svc-dev/cli")).out).not.toContain(
          "node_modules\n"
        )
        const places = ["bash/svc", "fish/svc.fish", "zsh/_svc"]
        const completions = places.map((place) => `npm/lib/node_modules/@svc-dev/cli/completions/${place}`)
        expect((yield* shell.run(`ls npm/share/man/man1/svc-plan.1 ${completions.join(" ")}`)).code).toBe(0)
        expect((yield* shell.run("ls npm/share/man/man1")).out).not.toContain("svc-serve.1")
        const shown = new Map<string, string>()
        for (const line of work) {
          const { code, error, out } = yield* run(line)
          expect([line, code, code === 0 || code === 3 ? "" : error]).toEqual([
            line,
            line.startsWith("svc install ") ? 3 : 0,
            ""
          ])
          shown.set(line, out)
        }
        expect(shown.get("svc whoami")).toContain("ada@example.test")
        expect(shown.get("svc capsule outputs network")).toContain("s3:GetObject in north")
        for (const line of ["plan --help", "run list --json", "export --help", "plan", "run get nothing --json"]) {
          const [packed, shipped] = [yield* run(`svc ${line}`), yield* shell.run(`svc ${line}`)]
          expect([line, packed.code, packed.out, packed.error]).toEqual([
            line,
            shipped.code,
            shipped.out,
            shipped.error
          ])
        }
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  }
)
