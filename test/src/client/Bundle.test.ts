import { expect, test } from "bun:test"
import { isBuiltin } from "node:module"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"

const entry = fileURLToPath(new URL("../../../src/client/index.ts", import.meta.url))

const bundle = (target: "browser" | "node") =>
  Bun.build({ entrypoints: [entry], target, format: "esm", metafile: true, minify: true })

test("the client is bundled for browsers without code from Node, the service or a server", async () => {
  const built = await bundle("browser")
  expect(built.success).toBe(true)
  const inputs = Object.entries(built.metafile?.inputs ?? {})
  const imported = inputs.flatMap(([, { imports }]) => imports.map(({ original, path }) => original ?? path))
  expect(inputs.length).toBeGreaterThan(50)
  expect(imported.filter((name) => isBuiltin(name))).toEqual([])
  const own = inputs.map(([path]) => path).filter((path) => !path.includes("node_modules"))
  expect(own.filter((path) => !/(?:^|\/)(?:schema|src\/client)\//.test(path))).toEqual([])
})

// The size limit for the whole bundle. Effect takes two thirds of the bundle; most of the rest is the declarations of every
// route and record. Server-only code (prose, access rules, the manifest grammar) is in files that the declarations do not
// import. Raise the limit when routes are added: it exists only to detect code that a page does not need.
const mostBytes = 100_000

test("the client with effect adds less than 100 KB of compressed code to a page", async () => {
  const [output] = (await bundle("browser")).outputs
  const bytes = new Uint8Array((await output?.arrayBuffer()) ?? new ArrayBuffer(0))
  expect(bytes.length).toBeGreaterThan(mostBytes)
  expect(Bun.gzipSync(bytes, { level: 9 }).length).toBeLessThan(mostBytes)
})

test("the browser bundle runs without process, Buffer or Bun", async () => {
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", format: "cjs" })
  const code = await (outputs[0]?.text() ?? "")
  const module = { exports: {} }
  // Provides only the globals that browsers have.
  const web = {
    URL,
    URLSearchParams,
    TextEncoder,
    TextDecoder,
    TextDecoderStream,
    ReadableStream,
    Blob,
    FormData,
    fetch
  }
  const timers = {
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    queueMicrotask,
    AbortController,
    Headers,
    Request
  }
  const world = { ...web, ...timers, crypto, performance, module, exports: module.exports, seen: "" }
  runInNewContext(
    `${code}\n;seen = [typeof process, typeof Buffer, typeof Bun, typeof module.exports.makeClient].join()`,
    world
  )
  expect(world.seen).toBe("undefined,undefined,undefined,function")
})

test.skipIf(Bun.which("node") === null)("Node loads the client", async () => {
  const [output] = (await bundle("node")).outputs
  const code = await (output?.text() ?? "")
  const child = Bun.spawn(["node", "--input-type=module", "-"], {
    stdin: new Blob([`${code}\n;console.log(typeof fetch, "loaded")`]),
    stdout: "pipe",
    stderr: "pipe"
  })
  expect(await new Response(child.stderr).text()).toBe("")
  expect(await new Response(child.stdout).text()).toBe("function loaded\n")
})
