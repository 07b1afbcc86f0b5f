// A control plane from the packages answers the corpus of raw requests, and the client; then it is closed. Prints each answer, and what
// keeps the process afterwards. It never calls exit.
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { makeClient } from "@svc-dev/client"
import { ControlPlane } from "@svc-dev/server"
import { layer, TestControlPlane } from "@svc-dev/server/testing"

const say = (line) => process.stdout.write(`${line}\n`)

const exchange = (port, bytes) =>
  new Promise((resolve) => {
    let answer = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"))
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")))
    socket.on("error", () => {})
    socket.on("close", () => resolve(answer))
  })

const answersIn = (text) =>
  text
    .split(/(?=HTTP\/1\.1 \d{3})/)
    .filter((part) => part !== "")
    .map((part) => `${/^HTTP\/1\.1 (\d{3})/.exec(part)?.[1] ?? "?"} ${/"code":"(\w+)"/.exec(part)?.[1] ?? ""}`.trim())

const program = Effect.gen(function* () {
  const services = yield* Layer.build(layer({ settings: { log: "error" } }))
  const { baseUrl: url } = Context.get(services, ControlPlane)
  const { token } = Context.get(services, TestControlPlane)
  const client = yield* makeClient({ baseUrl: url, token })
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  say(`workspaces: ${workspaces.length}`)
  const page = yield* Effect.promise(() => fetch(`${url}/sign-in`))
  say(`page: ${page.status} ${page.headers.get("content-type")} ${(yield* Effect.promise(() => page.text())).length}`)
  const port = Number(new URL(url).port)
  for (const { name, request } of JSON.parse(readFileSync("Corpus.json", "utf8"))) {
    const bytes = request.replaceAll("ada-token", Redacted.value(token))
    say(`${name}: ${answersIn(yield* Effect.promise(() => exchange(port, bytes))).join()}`)
  }
}).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer))

await Effect.runPromise(program)

const ofItself = new Set(["PipeWrap", "TTYWrap", "TTYWRAP", "PIPEWRAP", "FSReqPromise", "Immediate", "Timeout"])
const left = () => (process.getActiveResourcesInfo?.() ?? []).filter((name) => !ofItself.has(name))
// Sockets that were just closed need some turns of the loop.
for (let turn = 0; turn < 100 && left().length > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 10))
say(`left: ${left().join()}`)
