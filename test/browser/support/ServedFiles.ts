import { NodeFileSystem } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { assetFor } from "../../../src/dashboard/Assets.ts"
import { buildDashboard } from "../../../src/dashboard/Build.ts"
import { compiledBinary, serverProcess } from "./ServerProcess.ts"

/** Serves everything except the API: documents, scripts, styles, and the 404 for missing paths. */
export type ServedFiles = (request: Request) => Promise<Response>

/** Request headers that affect the dashboard's response. All other headers concern only the connection. */
const asked = ["accept", "accept-encoding", "accept-language", "if-none-match"] as const

/** Headers that apply to a single connection, or that the test's own server sets. */
const ofTheConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "date"])

/** Forwards each request to the compiled binary and returns its response byte for byte: status, headers, encoding and policy. */
export const filesOfBinary = Effect.fnUntraced(function* (binary: string) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "dashboard-files-" })
  const server = yield* serverProcess(folder, [], binary)
  const served: ServedFiles = async (request) => {
    const { pathname, search } = new URL(request.url)
    const headers = new Headers()
    for (const name of asked) {
      const value = request.headers.get(name)
      if (value !== null) headers.set(name, value)
    }
    const answer = await fetch(`${server.url}${pathname}${search}`, {
      method: request.method,
      headers,
      redirect: "manual",
      decompress: false
    })
    const passed = new Headers()
    for (const [name, value] of answer.headers) if (!ofTheConnection.has(name)) passed.append(name, value)
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers: passed })
  }
  return served
}, Effect.provide(NodeFileSystem.layer))

const bundle = Effect.runSync(Effect.cached(buildDashboard("fast")))

const fromSource = Effect.map(
  bundle,
  (assets): ServedFiles =>
    async (request) => {
      const found = assetFor(assets, {
        path: new URL(request.url).pathname,
        acceptEncoding: request.headers.get("accept-encoding") ?? undefined,
        acceptLanguage: request.headers.get("accept-language") ?? undefined,
        ifNoneMatch: request.headers.get("if-none-match") ?? undefined
      })
      if (found === undefined) return new Response("Not found", { status: 404 })
      return new Response(found.status === 304 ? null : found.body, { status: found.status, headers: found.headers })
    }
)

/**
 * Serves the dashboard's files, from the compiled binary in `SVC_TEST_BINARY`, or bundled from source for quick development.
 * The binary stops when the Scope closes.
 */
export const servedFiles = Effect.gen(function* () {
  const binary = compiledBinary()
  return binary === undefined ? yield* fromSource : yield* filesOfBinary(binary)
})
