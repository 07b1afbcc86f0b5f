import { Context, Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { ControlPlane } from "../../src/index.ts"
import { layer, TestControlPlane } from "../../src/testing/index.ts"
import { applied } from "./Outside.ts"
import { StepFailed, succeeded } from "./Project.ts"

const blockOf = (text: string, language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text)?.[1]

const fails = (message: string) => new StepFailed({ message })

/** The output of the program in each README, for an account with an applied Capsule named `page`. */
const printed: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ["schema", /^test ws_[a-z0-9]+ owner\n$/],
  ["client", /^page active\n$/],
  ["server", /^ada@example\.com has the Workspace ada at http:\/\/127\.0\.0\.1:\d+\n$/],
  ["dashboard", /^200 text\/html; charset=utf-8\n$/]
]

/** Environment variables for the programs: a server with an applied Capsule. */
const serverVariables = Effect.gen(function* () {
  const services = yield* Layer.build(
    layer({ repositories: { page: { "main.tf": 'output "a" {\n  value = 1\n}\n' } }, settings: { log: "error" } })
  )
  yield* Effect.provideContext(applied, services)
  const { baseUrl } = Context.get(services, ControlPlane)
  const { token } = Context.get(services, TestControlPlane)
  return [`SVC_URL=${baseUrl}`, `SVC_TOKEN=${Redacted.value(token)}`]
})

const runProgram = Effect.fn("runProgram")(function* (
  folder: string,
  packageFolder: string,
  runtime: ReadonlyArray<string>,
  variables: ReadonlyArray<string>,
  [name, pattern]: (typeof printed)[number]
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const code = blockOf(yield* files.readFileString(path.join(packageFolder, "README.md")), "js")
  if (code === undefined) return yield* fails(`The README of ${name} has no program.`)
  if (code.trim().split("\n").length > 14) return yield* fails(`The program in the README of ${name} is long.`)
  yield* files.writeFileString(path.join(folder, `readme-${name}.mjs`), code)
  const found = yield* succeeded(folder, "env", [...variables, ...runtime, `readme-${name}.mjs`])
  if (!pattern.test(found)) return yield* fails(`The README of ${name} printed ${found}, not ${pattern}.`)
})

/** Runs the program in each README in a project that has the packages. */
export const readmesRun = Effect.fn("readmesRun")(function* (folder: string, runtime: ReadonlyArray<string>) {
  const path = yield* Path.Path
  const files = yield* FileSystem.FileSystem
  const variables = yield* serverVariables
  for (const expected of printed) {
    const own = path.join(folder, "node_modules/@svc-dev", expected[0])
    yield* runProgram(folder, own, runtime, variables, expected)
    yield* files.remove(path.join(folder, "plane"), { recursive: true, force: true })
  }
}, Effect.scoped)

/** Checks that the program in each README needs only the packages that the same README installs. */
export const readmesInstall = Effect.fn("readmesInstall")(function* (
  tarballs: ReadonlyArray<string>,
  runtime: ReadonlyArray<string>
) {
  const path = yield* Path.Path
  const files = yield* FileSystem.FileSystem
  const variables = yield* serverVariables
  for (const expected of printed) {
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-readme-" })
    yield* files.writeFileString(path.join(folder, "package.json"), '{"private":true}')
    for (const tarball of tarballs) yield* files.copyFile(tarball, path.join(folder, path.basename(tarball)))
    const own = `svc-dev-${expected[0]}-`
    const tarball = tarballs.find((each) => path.basename(each).startsWith(own)) ?? ""
    yield* succeeded(folder, "tar", ["-xzf", path.basename(tarball)])
    const shipped = path.join(folder, "package")
    const install = blockOf(yield* files.readFileString(path.join(shipped, "README.md")), "sh") ?? "exit 1"
    yield* succeeded(folder, "bash", ["-ec", install])
    yield* runProgram(folder, shipped, runtime, variables, expected)
  }
}, Effect.scoped)
