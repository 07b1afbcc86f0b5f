import { describe, expect } from "bun:test"
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { live, svc } from "../support/CommandLine.ts"

const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false"]

const run = Effect.fnUntraced(function* (cwd: string, program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd, extendEnv: true, stdin: "ignore" }))
  const [out, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
    concurrency: 2
  })
  expect({ program, args, out, code: Number(code) }).toMatchObject({ code: 0 })
  return out.trim()
}, Effect.scoped)

/** Writes files and commits them in a new repository. */
const repository = Effect.fnUntraced(function* (folder: string, contents: Readonly<Record<string, string>>) {
  const files = yield* FileSystem.FileSystem
  yield* files.makeDirectory(folder, { recursive: true })
  yield* run(folder, "git", "init", "--quiet", "--initial-branch=main")
  for (const [name, text] of Object.entries(contents)) {
    yield* files.makeDirectory(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true })
    yield* files.writeFileString(`${folder}/${name}`, text)
  }
  yield* run(folder, "git", "add", "--all")
  yield* run(folder, "git", ...identity, "commit", "--quiet", "--message", "First")
  yield* run(folder, "git", "config", "user.name", "Test")
  yield* run(folder, "git", "config", "user.email", "test@example.com")
  return yield* run(folder, "git", "rev-parse", "HEAD")
})

/**
 * Creates a checkout whose module calls a remote package in two different ways and once more through a local module. That
 * package calls another package.
 */
const checkout = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-vendor-test-" })
  const names = yield* repository(`${folder}/names`, {
    "main.tf": 'variable "name" {}\noutput "name" {\n  value = "${var.name}-named"\n}\n'
  })
  const network = yield* repository(`${folder}/network`, {
    "modules/net/main.tf": `variable "name" {}
module "names" {
  source = "git::file://${folder}/names"
  name   = var.name
}
module "inner" {
  source = "./inner"
}
output "name" {
  value = module.names.name
}
`,
    "modules/net/inner/main.tf": 'resource "terraform_data" "inner" {}\n'
  })
  const call = `source = "git::file://${folder}/network//modules/net?ref=main"`
  yield* repository(`${folder}/app`, {
    "infra/main.tf": `module "one" {
  ${call} # the network
  name   = "one"
}
module "local" {
  source = "./parts"
}
output "name" {
  value = module.one.name
}
`,
    "infra/parts/main.tf": `module "two" {\n  ${call}\n  name = "two"\n}\n`
  })
  return { app: `${folder}/app`, folder, names, network }
})

describe("svc vendor", () => {
  live(
    "svc vendor copies remote modules, together with the modules that they call, in a single commit, and the plan stays the same",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { app, folder, names, network } = yield* checkout
        const ended = yield* svc(["vendor", `${app}/infra`, "--tool", "terraform", "--json"])
        expect(ended).toMatchObject({ code: 0, error: "" })
        const vendored: unknown = JSON.parse(ended.out)
        expect(vendored).toMatchObject({ committed: true })
        expect(vendored).toHaveProperty("modules")
        expect(ended.out).toContain(names)
        expect(ended.out).toContain(network)

        const main = yield* files.readFileString(`${app}/infra/main.tf`)
        expect(main).toMatch(/source = "\.\/vendor\/[\w.-]*network-main\/modules\/net" # the network\n/)
        const status = yield* run(app, "git", "status", "--porcelain")
        expect(status).toBe("")
        expect(yield* run(app, "git", "log", "-1", "--format=%s")).toBe("Vendor 2 modules")
        expect(yield* run(app, "git", "log", "-1", "--format=%b")).toContain(network)
        expect(
          (yield* files.readDirectory(`${app}/infra`, { recursive: true })).filter((name) =>
            /\.git|\.terraform/.test(name)
          )
        ).toEqual([])

        const scanned = yield* svc(["scan", `${app}/infra`, "--module", ".", "--tool", "terraform"])
        expect(scanned).toMatchObject({ code: 0 })
        // Deletes the original repositories, to prove that no remote module is left.
        yield* files.remove(`${folder}/names`, { recursive: true })
        yield* files.remove(`${folder}/network`, { recursive: true })
        yield* run(`${app}/infra`, "terraform", "init", "-no-color")
        const plan = yield* run(`${app}/infra`, "terraform", "plan", "-no-color")
        expect(plan).toContain("Plan: 2 to add")
        expect(plan).toContain('name = "one-named"')
      })
  )

  live(
    "svc vendor leaves a module without remote calls, a checkout with changes, and a folder outside Git unchanged",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { app, folder } = yield* checkout
        const before = yield* files.readFileString(`${app}/infra/main.tf`)
        yield* files.writeFileString(`${app}/infra/new.tf`, "# new\n")
        const changed = yield* svc(["vendor", `${app}/infra`, "--tool", "terraform"])
        expect(changed.code).toBe(1)
        expect(changed.error).toContain("has changes that are not committed")
        expect(yield* files.readFileString(`${app}/infra/main.tf`)).toBe(before)

        yield* files.makeDirectory(`${folder}/plain`)
        yield* files.writeFileString(`${folder}/plain/main.tf`, 'resource "terraform_data" "one" {}\n')
        const outside = yield* svc(["vendor", `${folder}/plain`, "--tool", "terraform"])
        expect(outside).toMatchObject({ code: 1 })
        expect(outside.error).toContain("is not in a Git checkout")
        const none = yield* svc(["vendor", `${folder}/plain`, "--tool", "terraform", "--no-commit"])
        expect(none).toMatchObject({ code: 0, out: "The module calls no remote module." })
      })
  )
})
