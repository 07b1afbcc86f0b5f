import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Context, Effect, Fiber, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { AgentParty } from "../../../runner/agent/AgentParty.ts"
import { ServerConnection } from "../../../runner/agent/ServerConnection.ts"
import { RetryUntilAnswered } from "../../../src/agent/RetryUntilAnswered.ts"
import { httpTransport } from "../../../src/agent/HttpTransport.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { applyClaim, sealingParty } from "../../runner/agent/support/OfferedApply.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { addApply, empty, heard, over, planned, released, staged } from "./support/AgentStage.ts"
import { steadySession } from "./support/SteadySession.ts"

describe("Server connection", () => {
  for (const { name, takesFiles } of [
    { name: "each message is lost", takesFiles: true },
    { name: "each message and each transfer with a server of the previous release is lost", takesFiles: false }
  ]) {
    it.concurrent(
      `a connection delivers every message exactly once even if the request or response for ${name}`,
      () =>
        Effect.gen(function* () {
          const { folder, server, snapshot, start } = yield* staged("held")
          server.takeFiles(takesFiles)
          for (const message of [
            "Challenge",
            "Hello",
            "Next",
            "Accept",
            "Start",
            "Renew",
            "Report",
            "Checkpoint",
            "Result",
            "GET snapshot",
            ...(takesFiles ? [] : ["GET plan_file", "PUT outcome", "PUT plan_file", "PUT state"])
          ]) {
            for (const lost of ["request", "answer"] as const) server.faults.push({ message, lost, times: 2 })
          }
          const agent = yield* start
          const plan = yield* planned(server, snapshot)
          const apply = yield* addApply(server, snapshot, plan)
          // Waits until both faults have occurred, because a state is sent only while the tool is working.
          const lostStates = server.faults.filter(({ message }) => ["Checkpoint", "PUT state"].includes(message))
          yield* eventually(
            Effect.sync(() => lostStates.filter(({ times }) => times > 0)),
            (left) => left.length === 0
          )
          yield* released(folder, apply)
          yield* over(apply)
          yield* empty(folder)
          yield* agent.drained
          expect(apply.results[0]).toMatchObject({ status: "ended", outcome: { exit: "succeeded" } })
          expect(server.faults.filter(({ times }) => times > 0)).toEqual([])
          const begun = apply.entries.filter(
            (entry) => entry.kind === "event" && entry.fact.kind === "resource.started"
          )
          expect(begun).toHaveLength(3)
          expect(server.said.some((message) => message.startsWith("PUT"))).toBe(!takesFiles)
        }),
      180_000
    )
  }

  it.concurrent(
    "a connection sends files separately after a server of the previous release replaces the current server",
    () =>
      Effect.gen(function* () {
        const { folder, server, snapshot, start } = yield* staged(3)
        server.takeFiles(true)
        const agent = yield* start
        const plan = yield* planned(server, snapshot)
        expect(server.said.filter((message) => message.startsWith("PUT"))).toEqual([])
        const apply = yield* addApply(server, snapshot, plan)
        yield* heard(apply, "Start")
        server.cut(true)
        server.takeFiles(false)
        server.forgetSessions()
        // The result is still waiting for delivery, in the format of the previous server.
        yield* eventually(
          Effect.sync(() => readFileSync(join(folder, "runs", `${apply.runId}-1`, "record.json"), "utf8")),
          (record) => record.includes("ended")
        )
        server.cut(false)
        yield* over(apply)
        yield* empty(folder)
        yield* agent.drained
        expect(apply.results[0]).toMatchObject({ status: "ended", outcome: { exit: "succeeded" } })
        expect(server.said).toContain("PUT outcome")
        expect(server.said).toContain("PUT state")
      }),
    120_000
  )

  it.effect("a connection sends the files of a message separately after the message times out", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const client = HttpClient.make((request) =>
        Effect.gen(function* () {
          const answer = (body: string) => HttpClientResponse.fromWeb(request, new Response(body))
          const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
          if (request.method === "PUT") {
            asked.push(`PUT ${request.url.includes("/outcome/") ? "outcome" : "state"}`)
            return answer(JSON.stringify({ storedBytes: 3, complete: true }))
          }
          const carries = body.includes('"bytes"')
          asked.push(carries ? "Result with files" : "Result")
          // On this connection, a message with files takes longer than the agent's timeout.
          if (carries) return yield* asked.length === 1 ? Effect.never : Effect.die(new Error("It is sent again"))
          const exit = { _tag: "Exit", requestId: JSON.parse(body).id, exit: { _tag: "Success", value: null } }
          return answer(`${JSON.stringify(exit)}\n`)
        })
      )
      const http = Layer.succeed(HttpClient.HttpClient, client)
      const line = yield* Layer.build(
        httpTransport.pipe(
          Layer.provide(steadySession),
          Layer.provide(Layer.mock(RetryUntilAnswered)({ until: Effect.orDie, unansweredSeconds: () => 0 })),
          Layer.provide(Layer.effect(AgentParty, sealingParty)),
          Layer.provideMerge(http),
          Layer.provideMerge(platform)
        )
      ).pipe(Effect.map(Context.get(ServerConnection)))
      const bytes = new Uint8Array([1, 2, 3])
      const files = (["outcome", "state"] as const).map((kind) => ({
        kind,
        bytes,
        path: "",
        sizeBytes: bytes.length,
        digest: `sha256:${"0".repeat(64)}`
      }))
      const sent = yield* Effect.forkChild(line.result(applyClaim, { lastBatch: 0, files }))
      yield* TestClock.adjust("29 seconds")
      expect(asked).toEqual(["Result with files"])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(sent)
      expect(asked.slice(1).toSorted()).toEqual(["PUT outcome", "PUT state", "Result"])
      expect(asked.at(-1)).toBe("Result")
    })
  )
})
