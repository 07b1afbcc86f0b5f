import { afterAll, describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { suite } from "./Effect.ts"
import { eventually } from "./Eventually.ts"
import { countCreations, providerMirror } from "./ProviderMirror.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform") ?? ""
const token = "token-alpha"

const State = Schema.fromJsonString(
  Schema.Struct({
    resources: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        instances: Schema.Array(
          Schema.Struct({
            status: Schema.optionalKey(Schema.String),
            attributes: Schema.Struct({ id: Schema.String, owner: Schema.String, content: Schema.String })
          })
        )
      })
    )
  })
)

const requirement = (extra = "") => `
terraform {
  required_providers {
    demo = { source = "example.test/acme/demo", version = "1.0.0" ${extra} }
  }
}
`

/** Creates a folder with one module, and runs the real tool in it. */
const workspace = Effect.fnUntraced(function* (module: string, modules: Readonly<Record<string, string>> = {}) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const mirror = yield* providerMirror
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "provider-test-" })
  const write = (content: string) => fileSystem.writeFileString(path.join(folder, "main.tf"), content)
  yield* write(module)
  for (const [name, content] of Object.entries(modules)) {
    yield* fileSystem.makeDirectory(path.join(folder, name), { recursive: true })
    yield* fileSystem.writeFileString(path.join(folder, name, "main.tf"), content)
  }
  const start = (args: ReadonlyArray<string>) =>
    spawner.spawn(
      ChildProcess.make(tool, args, {
        cwd: folder,
        env: { ...mirror.environment, DEMO_TOKEN: token, PATH: "/usr/bin:/bin" },
        extendEnv: false
      })
    )
  const collect = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
    const handle = yield* start(args)
    const output = yield* Stream.mkString(Stream.decodeText(handle.all))
    return { exitCode: Number(yield* handle.exitCode), output }
  }, Effect.scoped)
  const run = (...args: ReadonlyArray<string>) => collect(args)
  const succeed = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const result = yield* run(...args)
    expect(result.output).not.toContain("Error:")
    expect(result.exitCode).toBe(0)
    return result.output
  })
  const state = fileSystem
    .readFileString(path.join(folder, "terraform.tfstate"))
    .pipe(Effect.flatMap(Schema.decodeEffect(State)))
  return { mirror, folder, write, start, run, succeed, state }
})

const note = (name: string, extra = "") => `
resource "demo_note" "${name}" {
  name    = "${name}"
  content = "hello ${name}"
  ${extra}
}
`

const tests = suite(NodeServices.layer)
afterAll(tests.dispose)

describe.skipIf(tool === "")("Demo provider", () => {
  tests.live("the demo provider plans, applies, reads, imports, detects drift and destroys", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const module = requirement() + note("a", 'secret = "s3cret-attribute"') + note("b")
      const { mirror, write, run, succeed, state } = yield* workspace(module)
      yield* succeed("init", "-no-color")
      const applied = yield* succeed("apply", "-auto-approve", "-no-color")
      expect(applied).toContain("2 added")
      expect(applied).not.toContain("s3cret-attribute")
      expect(yield* countCreations(mirror.notesDir)).toBe(2)
      const [a] = (yield* state).resources
      const attributes = a?.instances[0]?.attributes
      expect(attributes?.owner).toBe(new Bun.CryptoHasher("sha256").update(token).digest("hex").slice(0, 8))
      expect((yield* run("plan", "-detailed-exitcode", "-no-color")).exitCode).toBe(0)

      const file = `${mirror.notesDir}/${attributes?.id}.json`
      yield* fileSystem.writeFileString(file, (yield* fileSystem.readFileString(file)).replace("hello a", "edited"))
      const drift = yield* run("plan", "-refresh-only", "-detailed-exitcode", "-no-color")
      expect(drift.exitCode).toBe(2)
      expect(drift.output).toContain("edited")

      yield* succeed("state", "rm", "demo_note.b")
      const [id] = (yield* fileSystem.readDirectory(mirror.notesDir)).filter((name) => name.startsWith("b-"))
      yield* succeed("import", "-no-color", "demo_note.b", (id ?? "").replace(".json", ""))
      yield* write(`${module}\ndata "demo_note" "b" { name = "b" }\noutput "b" { value = data.demo_note.b.content }`)
      expect(yield* succeed("apply", "-auto-approve", "-no-color")).toContain('b = "hello b"')

      expect(yield* succeed("destroy", "-auto-approve", "-no-color")).toContain("2 destroyed")
      expect(yield* fileSystem.readDirectory(mirror.notesDir)).toEqual(["creations.log"])
    })
  )

  tests.live("the demo provider uses the credential of each alias, and leaks a credential on request", () =>
    Effect.gen(function* () {
      const child = requirement(", configuration_aliases = [demo.other]") + note("c", "provider = demo.other")
      const { succeed, state } = yield* workspace(
        `${requirement()}
        provider "demo" { echo_token = true }
        provider "demo" {
          alias     = "b"
          token     = "token-beta"
          log_lines = 3
        }
        ${note("a")}
        module "child" {
          source    = "./child"
          providers = { demo.other = demo.b }
        }`,
        { child }
      )
      yield* succeed("init", "-no-color")
      const output = yield* succeed("apply", "-auto-approve", "-json")
      expect(output).toContain(`token=${token} Authorization: Basic ${btoa(`user:${token}`)}`)
      expect(output).toContain("line 3 of 3")
      const owners = (yield* state).resources.map((entry) => entry.instances[0]?.attributes.owner)
      expect(owners[0]).not.toBe(owners[1])
    })
  )

  tests.live("the demo provider can fail before, after and during a destroy", () =>
    Effect.gen(function* () {
      const failing = (a: string, b: string) =>
        requirement() + note("a", `fail = ${JSON.stringify(a)}`) + note("b", `fail = ${JSON.stringify(b)}`)
      const { mirror, write, run, succeed, state } = yield* workspace(failing("before", "after"))
      yield* succeed("init", "-no-color")
      const first = yield* run("apply", "-auto-approve", "-no-color")
      expect(first.exitCode).toBe(1)
      expect(first.output).toContain("fail=before for a")
      expect(yield* countCreations(mirror.notesDir)).toBe(1)
      expect((yield* state).resources.map((entry) => [entry.name, entry.instances[0]?.status])).toEqual([
        ["b", "tainted"]
      ])
      yield* write(failing("", "destroy"))
      yield* succeed("apply", "-auto-approve", "-no-color")
      const last = yield* run("destroy", "-auto-approve", "-no-color")
      expect(last.exitCode).toBe(1)
      expect(last.output).toContain("fail=destroy for b")
      expect((yield* state).resources.map((entry) => entry.name)).toEqual(["b"])
    })
  )

  tests.live("the demo provider stops waiting on request, and still reports the resources that it has created", () =>
    Effect.gen(function* () {
      const module = requirement() + note("slow", "delay_after_ms = 600000")
      const { mirror, start, succeed, state } = yield* workspace(module)
      yield* succeed("init", "-no-color")
      const handle = yield* start(["apply", "-auto-approve", "-json"])
      // The tool reports the start before the provider begins. If the tool is stopped in between, the provider creates
      // nothing.
      const interrupt = Effect.andThen(
        eventually(countCreations(mirror.notesDir), (count) => count === 1),
        handle.kill({ killSignal: "SIGINT" })
      )
      yield* Stream.splitLines(Stream.decodeText(handle.all)).pipe(
        Stream.tap((line) => (line.includes('"apply_start"') ? interrupt : Effect.void)),
        Stream.runDrain
      )
      expect(Number(yield* handle.exitCode)).toBe(1)
      expect(yield* countCreations(mirror.notesDir)).toBe(1)
      expect((yield* state).resources.map((entry) => entry.name)).toEqual(["slow"])
    })
  )

  tests.live("the demo provider can crash after a creation and leave an orphan behind", () =>
    Effect.gen(function* () {
      const { mirror, run, succeed, state } = yield* workspace(requirement() + note("a", 'fail = "crash"'))
      yield* succeed("init", "-no-color")
      const crashed = yield* run("apply", "-auto-approve", "-no-color")
      expect(crashed.exitCode).toBe(1)
      // The error depends on the fault that the tool detects first: "did not respond" or "was cancelled".
      expect(crashed.output).toContain("ApplyResourceChange")
      expect(yield* countCreations(mirror.notesDir)).toBe(1)
      expect((yield* state).resources).toEqual([])
    })
  )

  tests.live(
    "the demo provider sends and receives more data than the flow-control windows of its connection allow",
    () =>
      Effect.gen(function* () {
        const content = (name: string) =>
          Array.from({ length: 30_000 }, (_, at) => `${name}${100_000_000 + at}`).join("")
        const names = ["a", "b", "c"]
        const long = names.map(
          (name) => `resource "demo_note" "${name}" {\n  name = "${name}"\n  content = "${content(name)}"\n}`
        )
        const { run, succeed, state } = yield* workspace(requirement() + long.join("\n"))
        yield* succeed("init", "-no-color")
        yield* succeed("apply", "-auto-approve", "-no-color")
        const { resources } = yield* state
        expect(resources.map(({ instances: [one] }) => one?.attributes.content)).toEqual(names.map(content))
        expect((yield* run("plan", "-detailed-exitcode", "-no-color")).exitCode).toBe(0)
      })
  )

  tests.live("the tool rejects a demo provider that was changed after init, and finds a newer version", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const { mirror, folder, write, run, succeed } = yield* workspace(requirement() + note("a"))
      yield* succeed("init", "-no-color")
      const [host] = (yield* fileSystem.readDirectory(`${mirror.path}/example.test/acme/demo/1.0.0`)).slice(0, 1)
      const plugin = `${mirror.path}/example.test/acme/demo/1.0.0/${host}/terraform-provider-demo_v1.0.0`
      yield* fileSystem.writeFileString(plugin, `${yield* fileSystem.readFileString(plugin)}\n// changed\n`)
      const refused = yield* run("plan", "-no-color")
      expect(refused.exitCode).toBe(1)
      expect(refused.output).toContain("checksum")
      yield* write(requirement().replace("1.0.0", "1.1.0") + note("a"))
      yield* succeed("init", "-upgrade", "-no-color")
      expect(yield* fileSystem.readFileString(`${folder}/.terraform.lock.hcl`)).toContain('"1.1.0"')
    })
  )

  tests.live("the tool finds the demo provider under its default registry host", () =>
    Effect.gen(function* () {
      const { succeed } = yield* workspace(
        `terraform {
          required_providers { demo = { source = "acme/demo" } }
        }
        data "demo_note" "none" { name = "none" }`
      )
      expect(yield* succeed("init", "-no-color")).toContain("acme/demo v1.1.0")
    })
  )
})
