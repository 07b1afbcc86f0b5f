import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { build, repository, ways } from "./BuildHarness.ts"

describe("Damaged packs", () => {
  /** Starts a proxy to a Git server that damages packs. */
  const tampering = (origin: string, change: (pack: Buffer) => Buffer) =>
    httpServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const { "git-protocol": protocol, "content-type": type } = request.headers
        void fetch(`${origin}${request.url}`, {
          method: request.method ?? "GET",
          headers: { "git-protocol": String(protocol ?? ""), "content-type": type ?? "" },
          ...(request.method === "POST" ? { body: Buffer.concat(parts) } : {})
        }).then(async (answer) => {
          const body = Buffer.from(await answer.arrayBuffer())
          response.setHeader("content-type", answer.headers.get("content-type") ?? "")
          response.end(body.includes("PACK") ? change(body) : body)
        })
      })
    })

  for (const [name, change] of [
    ["cut off", (pack: Buffer) => pack.subarray(0, pack.length - 60)],
    [
      "with a wrong checksum",
      (pack: Buffer) => pack.fill((pack[pack.length - 6] ?? 0) ^ 1, pack.length - 6, pack.length - 5)
    ],
    ["with other contents", (pack: Buffer) => pack.fill(0x55, pack.indexOf("PACK") + 40, pack.indexOf("PACK") + 60)]
  ] as const)
    for (const [way, native] of ways)
      it.live(`${way} makes no snapshot from a damaged pack (${name})`, () =>
        Effect.gen(function* () {
          const { url: own } = yield* repository({ "a.tf": "a", "b.tf": "b" })
          const { url } = yield* tampering(new URL(own).origin, change)
          const error = yield* Effect.flip(build(url, { native }))
          expect(["GitProtocolBroken", "GitNativeUnavailable"]).toContain(error._tag)
        })
      )
})
