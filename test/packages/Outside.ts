import { Context, Effect, FileSystem, Layer, Path, Redacted, Stream } from "effect"
import { chromium } from "playwright-core"
import { ControlPlane, InstallPlans, Runs } from "../../src/index.ts"
import { layer, TestControlPlane } from "../../src/testing/index.ts"
import { StepFailed, succeeded } from "./Project.ts"

/** Copies the embedded example into a project. */
export const withExample = Effect.fn("withExample")(function* (root: string, folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const example = ["Application.ts", "Deployments.ts", "Policy.ts"].map((name) => `examples/embedded/${name}`)
  for (const file of [...example, "test/packages/project/OutsideMain.ts"]) {
    const text = yield* files.readFileString(path.join(root, file))
    const beside = text.replaceAll("../../../examples/embedded/", "./")
    yield* files.writeFileString(path.join(folder, path.basename(file)), beside)
  }
})

/** Checks that the application deploys, shows the Run, serves the API, and then exits. */
export const applicationWorks = Effect.fn("applicationWorks")(function* (
  folder: string,
  runtime: ReadonlyArray<string>
) {
  const [program = "", ...args] = runtime
  const found = yield* succeeded(folder, program, [...args, "OutsideMain.ts"])
  const expected = '201 deployed {"greeting":"Hello"}\n200 true\n200 401\n'
  if (found !== expected) return yield* new StepFailed({ message: `Expected:\n${expected}\nFound:\n${found}` })
})

/** Installs and applies a Capsule in the test's control plane. */
export const applied = Effect.gen(function* () {
  const { repository, workspace } = yield* TestControlPlane
  const installs = yield* InstallPlans
  const runs = yield* Runs
  const { id } = yield* installs.create(workspace.id, {
    source: { name: "page", url: repository("page").url },
    capsule: { name: "page", environment: "test" }
  })
  const plan = yield* installs.waitFor(id)
  yield* runs.approve(plan)
  const apply = yield* runs.apply(plan.id)
  yield* runs.waitFor(apply.id)
  return { runId: apply.id, kinds: yield* Stream.runCollect(Stream.map(runs.events(apply.id), ({ kind }) => kind)) }
}).pipe(Effect.provide(TestControlPlane.actor))

const mostBytes = 100_000

/** Bundles and compresses the entire client, including effect, from a project's packages, as a page would load it. */
export const clientIsSmall = Effect.fn("clientIsSmall")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entry = path.join(folder, "WholeClient.ts")
  yield* files.writeFileString(entry, 'export * from "@svc-dev/client"\n')
  const built = yield* Effect.promise(() => Bun.build({ entrypoints: [entry], target: "browser", minify: true }))
  const code = yield* Effect.promise(() => built.outputs[0]?.arrayBuffer() ?? Promise.resolve(new ArrayBuffer(0)))
  const bytes = Bun.gzipSync(new Uint8Array(code), { level: 9 }).length
  if (code.byteLength <= mostBytes || bytes > mostBytes) {
    const found = `The client takes ${bytes} bytes compressed, ${code.byteLength} as it is.`
    return yield* new StepFailed({ message: found })
  }
})

const page = (name: string) => `<!doctype html><title>Outside</title><script type="module" src="/${name}"></script>`

/** Follows a Run in Chromium, in a page that bundles the client from a project's packages. */
export const pageWorks = Effect.fn("pageWorks")(function* (folder: string) {
  const path = yield* Path.Path
  const built = yield* Effect.promise(() =>
    Bun.build({ entrypoints: [path.join(folder, "OutsidePage.ts")], target: "browser", minify: true })
  )
  const code = yield* Effect.promise(() => built.outputs[0]?.text() ?? Promise.resolve(""))
  const services = yield* Layer.build(
    layer({ repositories: { page: { "main.tf": 'output "a" {\n  value = 1\n}\n' } } })
  )
  const { kinds, runId } = yield* Effect.provideContext(applied, services)
  const { baseUrl } = Context.get(services, ControlPlane)
  const { token } = Context.get(services, TestControlPlane)
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        idleTimeout: 60,
        fetch: (request) => {
          const { pathname, search } = new URL(request.url)
          if (pathname === "/") return new Response(page("page.js"), { headers: { "content-type": "text/html" } })
          if (pathname === "/page.js") return new Response(code, { headers: { "content-type": "text/javascript" } })
          return fetch(`${baseUrl}${pathname}${search}`, { headers: request.headers })
        }
      })
    ),
    (server) => Effect.promise(() => server.stop(true))
  )
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox"] })
    ),
    (browser) => Effect.promise(() => browser.close())
  )
  const found = yield* Effect.promise(async () => {
    const opened = await browser.newPage()
    await opened.goto(`http://127.0.0.1:${server.port}/`)
    await opened.waitForFunction(() => "follow" in globalThis)
    return opened.evaluate<ReadonlyArray<string>>(
      `follow(${JSON.stringify(runId)}, ${JSON.stringify(Redacted.value(token))})`
    )
  })
  const expected = ["succeeded 1", ...kinds]
  if (found.join() !== expected.join()) {
    return yield* new StepFailed({ message: `Expected:\n${expected.join()}\nFound:\n${found.join()}` })
  }
}, Effect.scoped)
