import { describe, expect } from "bun:test"
import { Deferred, Effect, Schema } from "effect"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { fetchServer } from "../support/FetchServer.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

const Workspaces = Schema.decodeUnknownEffect(
  Schema.Struct({ workspaces: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.String }))) })
)
const Sources = Schema.decodeUnknownEffect(
  Schema.Struct({ sources: Schema.Array(Schema.Struct({ id: Schema.String })) })
)
const Runs = Schema.decodeUnknownEffect(
  Schema.Struct({
    runs: Schema.Array(
      Schema.Struct({ type: Schema.String, status: Schema.String, sourceId: Schema.optionalKey(Schema.String) })
    )
  })
)
const Activity = Schema.decodeUnknownEffect(
  Schema.Struct({
    events: Schema.Array(
      Schema.Struct({
        action: Schema.String,
        actor: Schema.Struct({ kind: Schema.String }),
        target: Schema.Struct({ id: Schema.String })
      })
    )
  })
)

/** Starts a Git server that has no repository and keeps its first reader waiting. */
const slowServer = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const answer = Promise.withResolvers<void>()
  const origin = yield* fetchServer(async () => {
    Deferred.doneUnsafe(asked, Effect.void)
    await answer.promise
    return new Response("No such repository.", { status: 404 })
  })
  return { origin, asked: Deferred.await(asked), answer: Effect.sync(answer.resolve) }
})

describe("Closed tabs", () => {
  for (const killed of [false, true]) {
    it.live(
      `closing a tab during a failing read leaves no source behind${killed ? ", even if the server was killed in the meantime" : ""}`,
      () =>
        Effect.gen(function* () {
          const git = yield* slowServer
          const server = yield* realServer(git.origin)
          const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
            Effect.promise(() => started.close())
          )
          const { page } = yield* Effect.promise(() => browser.open(lightEnglish))
          const { origin } = server.network
          yield* setUp(page, server.setupLink)
          const tab = yield* Effect.promise(() => page.context().newPage())
          const { press, step } = personAt(tab, 30_000)
          yield* step(() => tab.goto(`${origin}/new?git=${encodeURIComponent(`${git.origin}/mistyped.git`)}`))
          yield* press("Read the repository")
          yield* git.asked
          const read = (path: string) =>
            Effect.promise(() => page.request.get(`${origin}${path}`).then((r) => r.json()))
          const { workspaces = [] } = yield* Effect.flatMap(read("/api/v1/workspaces"), Workspaces)
          const inWorkspace = `workspaceId=${workspaces[0]?.id}`
          const sources = Effect.flatMap(read(`/api/v1/sources?${inWorkspace}`), Sources)
          const [made, ...others] = (yield* sources).sources
          expect([made?.id.startsWith("src_"), others]).toEqual([true, []])

          yield* step(() => tab.close())
          if (killed) yield* server.crash
          yield* git.answer
          if (killed) yield* server.startAgain
          yield* eventually(sources, (found) => found.sources.length === 0)

          const { runs } = yield* Effect.flatMap(read(`/api/v1/workspaces/${workspaces[0]?.id}/runs`), Runs)
          expect(runs).toEqual([{ type: "source_sync", status: "failed", sourceId: made?.id ?? "" }])
          const { events } = yield* Effect.flatMap(
            read(`/api/v1/workspaces/${workspaces[0]?.id}/activity?action=source.remove`),
            Activity
          )
          expect(events).toEqual([
            { action: "source.remove", actor: { kind: "service" }, target: { id: made?.id ?? "" } }
          ])
        }),
      120_000
    )
  }
})
