import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"
import type { FileSystem } from "effect"
import { Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { AgentParty } from "../../runner/agent/AgentParty.ts"
import type { SentFile } from "../../runner/agent/SealedFile.ts"
import type { FetchRefused } from "../../runner/agent/ServerLine.ts"
import { ServerLine } from "../../runner/agent/ServerLine.ts"
import type { ReportBatch, RunClaim } from "../../schema/agent/AgentJob.ts"
import { carriable, type CarriedFile } from "../../schema/agent/CarriedFile.ts"
import { AgentSession } from "./AgentSession.ts"
import { Answered, type Problem } from "./Answered.ts"
import { getBlob, putBlob } from "./BlobTransfer.ts"

const longestAnswer = "30 seconds"

interface Carried {
  readonly files?: ReadonlyArray<CarriedFile>
  readonly lastReport?: ReportBatch
}

const carriedOf = ({ bytes, digest, kind }: SentFile): ReadonlyArray<CarriedFile> =>
  bytes === undefined || kind === "snapshot" || kind === "build" || kind === "left_over"
    ? []
    : [{ kind, digest, bytes }]

/** The files of a result, as named in the result. */
const digestsOf = (files: ReadonlyArray<SentFile>) => {
  const digests = new Map(files.map(({ digest, kind }) => [kind, digest]))
  const [build, planFile, state] = [digests.get("build"), digests.get("plan_file"), digests.get("state")]
  return {
    outcome: digests.get("outcome") ?? "",
    ...(planFile === undefined ? {} : { planFile }),
    ...(state === undefined ? {} : { state }),
    ...(build === undefined ? {} : { build })
  }
}

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

    const put = (claim: RunClaim, file: SentFile) =>
      Effect.provideContext(putBlob(identity.server, session, claim, file), context)

    /**
     * Sends a message that has files and may have a last report. What the message cannot carry is sent before it. It is rebuilt
     * if a server from another release replaces the former one, and rebuilt without files if it gets no response in time: a file
     * sent on its own may take longer, and resumes where it was interrupted.
     */
    const withFiles = (
      claim: RunClaim,
      sent: { readonly files: ReadonlyArray<SentFile>; readonly lastReport?: ReportBatch },
      say: (carried: Carried) => Effect.Effect<void, Problem>
    ) => {
      let isSlow = false
      return Effect.suspend(() => {
        const isCarrying = session.takesFiles() && !isSlow
        const { files, lastReport: batch } = sent
        const carried = isCarrying ? carriable(files.flatMap(carriedOf)) : []
        const others = files.filter(({ kind }) => !carried.some((file) => file.kind === kind))
        const report = isCarrying || batch === undefined ? [] : [until(said(calls.Report({ ...claim, batch })))]
        const message: Carried = {
          ...(carried.length === 0 ? {} : { files: carried }),
          ...(isCarrying && batch !== undefined ? { lastReport: batch } : {})
        }
        const isStale = () => isCarrying && !session.takesFiles()
        const before = [...report, ...others.map((file) => until(put(claim, file)))]
        return Effect.all(before, { concurrency: "unbounded", discard: true }).pipe(
          Effect.andThen(
            until(
              Effect.suspend(() => (isStale() ? Effect.succeed(false) : Effect.as(said(say(message)), true))).pipe(
                Effect.catchIf(
                  (problem) => isCarrying && problem._tag === "TimeoutError",
                  () => {
                    isSlow = true
                    return Effect.succeed(false)
                  }
                )
              )
            )
          )
        )
      }).pipe(Effect.repeat({ until: (isSaid) => isSaid }), Effect.asVoid)
    }

    return ServerLine.of({
      accept: ({ fence, runId }) => until(said(calls.Accept({ runId, fence }))),
      start: ({ fence, runId }) => until(said(calls.Start({ runId, fence }))),
      report: ({ fence, runId }, batch) =>
        until(said(calls.Report({ runId, fence, batch }))).pipe(Effect.map(({ acknowledged }) => acknowledged)),
      checkpoint: (claim, { file, resourceCount, serial }) =>
        withFiles(claim, { files: [file] }, (carried) =>
          calls.Checkpoint({ ...claim, serial, resourceCount, blob: file.digest, ...carried })
        ),
      result: (claim, { lastBatch, ...sent }) =>
        withFiles(claim, sent, (carried) =>
          calls.Result({ ...claim, lastBatch, ...digestsOf(sent.files), ...carried })
        ),
      handIn: (claim, file) =>
        withFiles(claim, { files: [file] }, () => Effect.asVoid(calls.HandIn({ ...claim, leftOver: file.digest }))),
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
