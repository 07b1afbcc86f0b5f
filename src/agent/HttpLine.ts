import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"
import type { FileSystem } from "effect"
import { Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { AgentParty } from "../../runner/agent/AgentParty.ts"
import type { FetchRefused } from "../../runner/agent/ServerLine.ts"
import { ServerLine } from "../../runner/agent/ServerLine.ts"
import { AgentSession } from "./AgentSession.ts"
import { Answered } from "./Answered.ts"
import { getBlob, putBlob } from "./BlobTransfer.ts"

const longestAnswer = "30 seconds"

/** The connection to a server over HTTP. */
export const httpLine = Layer.effect(
  ServerLine,
  Effect.gen(function* () {
    const session = yield* AgentSession
    const { until } = yield* Answered
    const { identity } = yield* AgentParty
    const context = yield* Effect.context<HttpClient.HttpClient | FileSystem.FileSystem>()
    const { calls } = session
    const said = <A, E>(call: Effect.Effect<A, E>) => Effect.timeout(call, longestAnswer)

    return ServerLine.of({
      accept: ({ fence, runId }) => until(said(calls.Accept({ runId, fence }))),
      start: ({ fence, runId }) => until(said(calls.Start({ runId, fence }))),
      report: ({ fence, runId }, batch) =>
        until(said(calls.Report({ runId, fence, batch }))).pipe(Effect.map(({ acknowledged }) => acknowledged)),
      checkpoint: ({ fence, runId }, state) => until(said(calls.Checkpoint({ runId, fence, ...state }))),
      result: ({ fence, runId }, files) => until(said(calls.Result({ runId, fence, ...files }))),
      handIn: ({ fence, runId }, leftOver) => Effect.asVoid(until(said(calls.HandIn({ runId, fence, leftOver })))),
      put: (claim, kind, file) =>
        until(Effect.provideContext(putBlob(identity.server, session, claim, kind, file), context)),
      fetch: (claim, kind, digest, target) =>
        Effect.promise(() => mkdir(dirname(target), { recursive: true, mode: 0o700 })).pipe(
          Effect.andThen(
            until(
              getBlob(identity.server, session, claim, kind, digest, target).pipe(
                Effect.provideContext(context),
                // It ends the Run, not the message: it leaves the retry loop as a value.
                Effect.as(undefined),
                Effect.catchTag("FetchRefused", (refused) => Effect.succeed(refused))
              )
            )
          ),
          Effect.flatMap((refused: FetchRefused | undefined) => refused ?? Effect.void)
        )
    })
  })
)
