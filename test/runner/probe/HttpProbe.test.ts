import { describe, expect } from "bun:test"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AddressResolver } from "../../../runner/git/AddressResolver.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { awaitAnswer, checkedUrl } from "../../../runner/probe/AwaitedAnswer.ts"
import { HttpProbe, ProbeFailed } from "../../../runner/probe/HttpProbe.ts"
import { it } from "../../support/Effect.ts"

const check = { name: "health", kind: "http", target: { endpoint: true } } as const

const server = (fetch: (request: Request) => Response) =>
  Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })),
    (running) => Effect.promise(() => running.stop(true))
  )

/** Sends one request under a policy that allows these origins. Every host name resolves to this machine. */
const asked = (url: string, allowOrigins: ReadonlyArray<string>, text?: string) =>
  Effect.flatMap(HttpProbe, (probe) => probe.ask(new URL(url), text)).pipe(
    Effect.provide(
      Layer.mergeAll(
        GitPolicy.layerWith({ allowOrigins }),
        Layer.succeed(AddressResolver, { resolve: () => Effect.succeed(["127.0.0.1"]) })
      )
    ),
    Effect.result
  )

describe("Address checks", () => {
  it.live("a probe rejects the addresses that a Git fetch rejects, without connecting to them", () =>
    Effect.gen(function* () {
      let connections = 0
      const { port } = yield* server(() => {
        connections += 1
        return new Response("")
      })
      for (const url of [
        `http://127.0.0.1:${port}/`,
        `https://127.0.0.1:${port}/`,
        `http://site.example.com:${port}/`,
        `https://site.example.com:${port}/`,
        `https://user:password@site.example.com:${port}/`,
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://site.example.com:22/"
      ]) {
        const answer = yield* asked(url, [])
        expect([url, answer._tag === "Failure" && answer.failure.isFinal]).toEqual([url, true])
      }
      expect(connections).toBe(0)
      const allowed = `http://site.example.com:${port}`
      expect(yield* asked(`${allowed}/`, [allowed])).toMatchObject({ success: { status: 200 } })
      expect(connections).toBe(1)
    })
  )

  it.live("a probe checks the expected status, and a string in the first 64 KiB of the body", () =>
    Effect.gen(function* () {
      const { port } = yield* server((request) => {
        const { pathname } = new URL(request.url)
        if (pathname === "/moved") return Response.redirect("https://elsewhere.example.com/", 302)
        return new Response(pathname === "/late" ? `${"x".repeat(64 * 1024)}ready` : "it is ready")
      })
      const origin = `http://127.0.0.1:${port}`
      const at = (path: string, text?: string) => asked(`${origin}${path}`, [origin], text)
      expect(yield* at("/moved")).toMatchObject({ success: { status: 302 } })
      expect(yield* at("/", "ready")).toMatchObject({ success: { status: 200, holds: true } })
      expect(yield* at("/", "absent")).toMatchObject({ success: { holds: false } })
      expect(yield* at("/late", "ready")).toMatchObject({ success: { holds: false } })
    })
  )

  it.effect("a probe is retried until the expected response arrives or its timeout elapses", () =>
    Effect.gen(function* () {
      const awaited = (answers: ReadonlyArray<number>, isFinal = false) => {
        let index = 0
        const ask = () =>
          Effect.suspend(() => {
            const status = answers[index++] ?? answers.at(-1) ?? 0
            return status === 0
              ? Effect.fail(new ProbeFailed({ isFinal, message: "it did not answer" }))
              : Effect.succeed({ status, holds: true })
          })
        return awaitAnswer({ ...check, timeout: 60, interval: 10 }, new URL("https://site.example.com/")).pipe(
          Effect.provideService(HttpProbe, { ask }),
          Effect.provide(GitPolicy.layer),
          Effect.forkChild,
          Effect.tap(() => TestClock.adjust("2 minutes")),
          Effect.flatMap(Fiber.join)
        )
      }
      expect(yield* awaited([0, 503, 200])).toEqual({ name: "health", status: "passed", attempts: 3 })
      expect(yield* awaited([503])).toEqual({
        name: "health",
        status: "failed",
        attempts: 6,
        reason: "after 60 seconds it answered with status 503 instead of 200"
      })
      expect(yield* awaited([0], true)).toMatchObject({ status: "failed", attempts: 1 })
    })
  )

  it.effect("a probed address must use http, and its path cannot lead to another host", () =>
    Effect.sync(() => {
      expect(checkedUrl("https://site.example.com/a?b=1#c", undefined)?.href).toBe("https://site.example.com/a?b=1")
      expect(checkedUrl("https://site.example.com/a?b=1", "/healthz")?.href).toBe("https://site.example.com/healthz")
      for (const target of ["javascript:alert(1)", "file:///etc/passwd", "site.example.com", ""]) {
        expect(checkedUrl(target, "/healthz")).toBeUndefined()
      }
    })
  )
})
