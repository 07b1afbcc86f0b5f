import { describe, expect } from "bun:test"
import { Effect, FileSystem, Option, type Scope, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { Layer } from "effect"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { run } from "../../src/cli/Run.ts"
import { platform } from "../../src/composition/Platform.ts"
import { TestConsole } from "effect/testing"
import { it } from "../support/Effect.ts"

const main = fileURLToPath(new URL("../../src/Main.ts", import.meta.url))
const tool = Bun.which("tofu") ?? Bun.which("terraform")

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)))

/** Sends raw bytes, and returns everything received until the server closes the connection. */
const raw = (port: number, text: string) =>
  Effect.callback<string>((resume) => {
    let answer = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    socket.on("data", (chunk) => {
      answer += chunk.toString()
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(answer)))
    return Effect.sync(() => socket.destroy())
  })

const request = (lines: ReadonlyArray<string>) => `${lines.join("\r\n")}\r\nconnection: close\r\n\r\n`

describe("svc serve", () => {
  live("svc serve runs as one process, withstands malformed requests, and drains on SIGTERM with exit code 0", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const cwd = yield* files.makeTempDirectoryScoped({ prefix: "svc-serve-" })
      const server = yield* spawner.spawn(
        ChildProcess.make(process.execPath, [main, "serve", "--json", "--listen", "127.0.0.1:0"], {
          cwd,
          extendEnv: false,
          env: { PATH: process.env["PATH"] ?? "", HOME: cwd }
        })
      )
      const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
      const { baseUrl, port, setupLink, url } = JSON.parse(Option.getOrThrow(line))
      expect(baseUrl).toBe(url)
      expect(setupLink).toStartWith(`${url}/setup#svct_`)
      const get = (path: string) => Effect.promise(() => fetch(`${url}${path}`))
      expect((yield* get("/readyz")).status).toBe(200)
      expect((yield* files.stat(`${cwd}/svc-data`)).mode & 0o777).toBe(0o700)

      for (const host of [
        "a@evil.example.test",
        "evil example",
        "a, b",
        "<script>",
        "a:99999",
        "[::1::2]",
        "1.2.3.400"
      ]) {
        const answer = yield* raw(port, request(["GET /api/v1/capabilities HTTP/1.1", `host: ${host}`]))
        expect(answer).toStartWith("HTTP/1.1 400")
        expect(answer).not.toContain("<html")
      }
      const twice = yield* raw(port, request(["GET /readyz HTTP/1.1", "host: one.test", "host: two.test"]))
      expect(twice).toStartWith("HTTP/1.1 400")
      const spoofed = yield* raw(port, request(["GET /.well-known/svc HTTP/1.1", "host: evil.example.test"]))
      expect(spoofed).toContain(`${url}/api/v1`)
      expect(spoofed).not.toContain("evil.example.test")
      const credentials = ["authorization: Bearer svcp_a", "authorization: Bearer svcp_b"]
      const doubled = yield* raw(port, request(["GET /api/v1/workspaces HTTP/1.1", "host: x", ...credentials]))
      expect(doubled).toStartWith("HTTP/1.1 401")
      const smuggled = yield* raw(
        port,
        "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /readyz HTTP/1.1\r\nhost: x\r\n\r\n"
      )
      expect(smuggled).toContain("400")
      expect(smuggled).not.toContain('"ok"')
      const declared = ["POST /auth/sign-in HTTP/1.1", "host: x", "content-type: application/json"]
      const huge = yield* raw(port, request([...declared, "content-length: 209715200"]))
      expect(huge).toStartWith("HTTP/1.1 413")
      expect(huge).toContain('"request_too_large"')

      // While the server runs, a backup succeeds, and a second server on the same data folder fails.
      yield* run(["backup", `${cwd}/backup.sqlite`, "--data-dir", `${cwd}/svc-data`])
      expect((yield* files.stat(`${cwd}/backup.sqlite`)).mode & 0o777).toBe(0o600)
      const second = yield* Effect.flip(run(["serve", "--listen", "127.0.0.1:0", "--data-dir", `${cwd}/svc-data`]))
      expect(String(second)).toContain("already uses the data folder")

      yield* server.kill({ killSignal: "SIGTERM" })
      expect(Number(yield* server.exitCode)).toBe(0)
    }).pipe(Effect.provide(TestConsole.layer))
  )
})

describe.skipIf(tool === null)("svc demo", () => {
  live("svc demo performs the main workflow from start to finish", () =>
    Effect.gen(function* () {
      yield* run(["demo", "--json"])
      const lines = (yield* TestConsole.logLines).map((line) => JSON.parse(String(line)))
      const steps = lines.flatMap(({ step }) => (step === undefined ? [] : [step]))
      expect(steps.at(-1)).toStartWith("Done")
      const ended = lines.filter(({ event }) => event?.kind === "run.succeeded")
      expect(ended.length).toBeGreaterThanOrEqual(4)
    }).pipe(Effect.provide(TestConsole.layer))
  )
})
