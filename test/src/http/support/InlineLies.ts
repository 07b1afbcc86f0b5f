import { expect } from "bun:test"
import { Effect } from "effect"
import { mostInlineBytes } from "../../../../schema/agent/InlineFile.ts"
import { zstdBomb } from "../../../support/ZstdBomb.ts"
import { stateFile, text } from "./FarPlane.ts"
import { digest, type Lie, lineOf, ofOthers, refused, type Scene, type Told } from "./LieScene.ts"
import { digestOf } from "./TestAgent.ts"

type Malformed = Told["malformed"][number]

const file = (kind: string, bytes: string) => ({ kind, digest, bytes })

const forms: ReadonlyArray<ReadonlyArray<object>> = [
  [file("snapshot", "")],
  [file("left_over", "")],
  [file("state", "not base64!")],
  [file("state", Buffer.alloc(mostInlineBytes + 1).toString("base64"))],
  Array.from({ length: 4 }, () => file("state", ""))
]

/** Returns messages with files that violate the protocol. */
export const malformedFiles = (say: (scene: Scene, files: ReadonlyArray<object>) => object): ReadonlyArray<Malformed> =>
  forms.map((files) => (scene: Scene) => say(scene, files))

const failure = { reason: "killed", phase: "plan", message: "x", diagnostics: [], sandboxKilled: false }

/** The failure of a plan, in the form agents report it. */
export const failedPlan = { kind: "plan", status: "failed", failure: { _tag: "RunnerFailure", ...failure } }

const stateOf = Effect.fnUntraced(function* ({ held, honest }: Scene, serial: number) {
  const bytes = yield* honest.sealed(held, "state", stateFile(serial))
  return { kind: "state" as const, digest: digestOf(bytes), bytes }
})

/** False files and reports that an agent may send with its checkpoints. */
export const inlineStates: ReadonlyArray<Lie> = [
  {
    name: "of another's Run, with the state in the message",
    tell: (scene) =>
      Effect.flatMap(stateOf(scene, 60), (state) =>
        ofOthers(({ liar }, claim) =>
          liar.as(
            liar.client.Checkpoint({ ...claim, serial: 60, resourceCount: 1, blob: state.digest, files: [state] })
          )
        )(scene)
      )
  },
  {
    name: "with a state in the message that is another than its digest says, or than the message says",
    tell: Effect.fnUntraced(function* (scene) {
      const { held, honest } = scene
      const [one, other] = [yield* stateOf(scene, 61), yield* stateOf(scene, 62)]
      const say = (blob: string, files: ReadonlyArray<typeof one>) =>
        honest.as(honest.client.Checkpoint({ ...held, serial: 61, resourceCount: 1, blob, files }))
      yield* refused(say(one.digest, [{ ...other, digest: one.digest }]), "Rejected")
      yield* refused(say(one.digest, [other]), "Rejected")
      yield* refused(say(other.digest, [other]), "Rejected")
    })
  }
]

/** False files and reports that an agent may send with its result. */
export const inlineResults: ReadonlyArray<Lie> = [
  {
    name: "of another's Run, with its files and its last report in the message",
    tell: (scene) =>
      ofOthers(({ digests, liar }, claim) =>
        liar.as(
          liar.client.Result({
            ...claim,
            lastBatch: 1,
            outcome: digests.outcome,
            files: [{ kind: "outcome", digest: digests.outcome, bytes: text("a lie") }],
            lastReport: { number: 1, entries: [lineOf("a lie")] }
          })
        )
      )(scene)
  },
  {
    name: "with files that it does not name, that are others, or that were sealed for another Run",
    tell: Effect.fnUntraced(function* ({ held, liar, own }) {
      const apply = text(JSON.stringify({ kind: "apply", status: "left", left: null }))
      const bytes = yield* liar.sealed(own, "outcome", apply)
      const outcome = digestOf(bytes)
      const say = (
        files: ReadonlyArray<{ kind: "outcome" | "state"; digest: string; bytes: Uint8Array }>,
        named: string
      ) => liar.as(liar.client.Result({ ...own, lastBatch: 0, outcome: named, files }))
      yield* refused(say([{ kind: "state", digest: outcome, bytes }], outcome), "Rejected")
      yield* refused(say([{ kind: "outcome", digest: outcome, bytes }], digest), "Rejected")
      yield* refused(say([{ kind: "outcome", digest, bytes }], digest), "Rejected")
      // The message contains one file too many. Without the extra file, the server responds only with `Busy`, because
      // earlier batches have not arrived.
      const ended = yield* liar.inlineFile(own, "outcome", text(JSON.stringify(failedPlan)))
      const more = { kind: "state" as const, digest: outcome, bytes }
      const late = { ...own, lastBatch: 99, outcome: ended.digest }
      yield* refused(liar.as(liar.client.Result({ ...late, files: [ended, more] })), "Rejected")
      yield* refused(liar.as(liar.client.Result({ ...late, files: [ended] })), "Busy")
      // A file for a different kind of Run.
      yield* refused(say([{ kind: "outcome", digest: outcome, bytes }], outcome), "Rejected")
      const elsewhere = yield* liar.sealed(held, "outcome", apply)
      const other = digestOf(elsewhere)
      yield* refused(say([{ kind: "outcome", digest: other, bytes: elsewhere }], other), "Rejected")
    })
  },
  {
    name: "with an outcome of 32 KB that unpacks to 1,000 MiB",
    tell: Effect.fnUntraced(function* ({ liar, own }) {
      for (const options of [{}, { stated: 1000 * 1024 * 1024 }, { stated: 1024 * 1024 }, { windowLog: 27 }]) {
        const bytes = yield* liar.sealedPacked(own, "outcome", zstdBomb(1000, options))
        const outcome = digestOf(bytes)
        const files = [{ kind: "outcome" as const, digest: outcome, bytes }]
        const error = yield* Effect.flip(liar.as(liar.client.Result({ ...own, lastBatch: 0, outcome, files })))
        expect(error).toMatchObject({ _tag: "Rejected", message: "The sealed contents are damaged or too large." })
      }
    })
  },
  {
    name: "with a last report that comes too early",
    tell: Effect.fnUntraced(function* ({ liar, own }) {
      const lastReport = { number: 9, entries: [lineOf("from the future")] }
      const outcome = yield* liar.inlineFile(own, "outcome", text(JSON.stringify(failedPlan)))
      const said = { ...own, lastBatch: 9, outcome: outcome.digest, files: [outcome], lastReport }
      yield* refused(liar.as(liar.client.Result(said)), "Busy")
      const batch = { number: 8, entries: [lineOf("from the future")] }
      expect((yield* liar.as(liar.client.Report({ ...own, batch }))).acknowledged).toBeLessThan(8)
    })
  }
]
