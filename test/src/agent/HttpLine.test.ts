import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { addApply, empty, heard, over, planned, staged } from "./support/AgentStage.ts"

describe("the connection of an agent to its server", () => {
  for (const { name, takesFiles } of [
    { name: "each message is lost", takesFiles: true },
    { name: "each message and each transfer with a server of the release before is lost", takesFiles: false }
  ]) {
    it.live(
      `delivers everything once even if the request or the answer of ${name}`,
      () =>
        Effect.gen(function* () {
          const { folder, server, snapshot, start } = yield* staged(12)
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

  it.live(
    "sends its files on their own to a server of the release before that takes the place of its own",
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
        // Its result waits, made for the server of before.
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
})
