import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentLeases } from "../../../../actors/running/agent/AgentLeases.ts"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { inlineResults, inlineStates, failedPlan, malformedFiles } from "./InlineLies.ts"
import { stateFile, text } from "./FarPlane.ts"
import { at, digest, lineOf, notOwn, ofOthers, refused, type Tag, type Told } from "./LieScene.ts"
import { digestOf } from "./TestAgent.ts"

/** False reports that an agent may send about a Run. */
export const runLies = {
  Accept: {
    malformed: [() => ({ runId: "run_x", fence: 1 }), ({ own }) => ({ ...own, fence: 0.5 })],
    lies: [{ name: "of another's Run", tell: ofOthers(({ liar }, claim) => liar.as(liar.client.Accept(claim))) }]
  },
  Decline: {
    malformed: [({ own }) => ({ ...own, reason: "x".repeat(501) })],
    lies: [
      {
        name: "of another's Run, which stays where it is",
        tell: (scene) =>
          Effect.forEach(notOwn(scene), (claim) =>
            scene.liar.as(scene.liar.client.Decline({ ...claim, reason: "not mine" }))
          )
      },
      {
        name: "of one that it has accepted",
        tell: ({ liar, own }) => liar.as(liar.client.Decline({ ...own, reason: "no more" }))
      }
    ]
  },
  Start: {
    malformed: [() => ({})],
    lies: [{ name: "of another's Run", tell: ofOthers(({ liar }, claim) => liar.as(liar.client.Start(claim))) }]
  },
  Renew: {
    malformed: [
      ({ liar, own }) => ({
        held: Array.from({ length: 257 }, () => ({ ...own, spoolBytes: 0 })),
        disk: liar.facts.disk,
        draining: false
      }),
      () => ({ held: [], disk: { freeBytes: "all", totalBytes: 1, low: false }, draining: false }),
      ({ liar }) => ({ held: [], disk: liar.facts.disk, draining: true, leaving: "yes" })
    ],
    lies: [
      {
        name: "of another's Run, whose lease is not renewed",
        tell: Effect.fnUntraced(function* (scene) {
          const { held, liar } = scene
          const leases = yield* AgentLeases
          const heardAt = Effect.map(leases.all, (all) => all.find(({ runId }) => runId === held.runId)?.heardAt)
          const before = yield* heardAt
          const said = notOwn(scene).map((claim) => ({ ...claim, spoolBytes: 0 }))
          const answer = yield* liar.as(liar.client.Renew({ held: said, disk: liar.facts.disk, draining: false }))
          expect(answer.leases).toEqual([])
          expect(answer.gone).toHaveLength(said.length)
          expect(yield* heardAt).toBe(before)
        })
      },
      {
        name: "that it leaves although it holds a Run, which ends its own session, and no Run of anybody",
        tell: Effect.fnUntraced(function* ({ held, honest, liar, own }) {
          const leaving = [held, own].map((claim) => ({ ...claim, spoolBytes: 0 }))
          const said = { held: leaving, disk: liar.facts.disk, draining: true, leaving: true }
          expect((yield* liar.as(liar.client.Renew(said))).leases).toMatchObject([own])
          yield* refused(liar.as(liar.client.Renew(said)), "Unauthorised")
          const statuses = (yield* (yield* Agents).list()).map(({ id, status }) => ({ id, status }))
          expect(statuses).toContainEqual({ id: honest.agentId, status: "connected" })
          expect(statuses).toContainEqual({ id: liar.agentId, status: "silent" })
          expect((yield* liar.hello([{ ...own, stage: "accepted" }])).orders).toMatchObject([{ order: "continue" }])
        })
      }
    ]
  },
  Report: {
    malformed: [
      ({ own }) => ({ ...own, batch: { number: 0, entries: [] } }),
      ({ own }) => ({ ...own, batch: { number: 1, entries: Array.from({ length: 2001 }, () => lineOf("x")) } }),
      ({ own }) => ({ ...own, batch: { number: 1, entries: [lineOf("x".repeat(64 * 1024 + 1))] } }),
      ({ own }) => ({
        ...own,
        batch: { number: 1, entries: [{ kind: "event", at, fact: { kind: "run.succeeded", data: {} } }] }
      }),
      ({ own }) => ({
        ...own,
        batch: { number: 1, entries: [{ kind: "event", at, fact: { kind: "state.saved", data: { serial: "x" } } }] }
      })
    ],
    lies: [
      {
        name: "of another's Run",
        tell: ofOthers(({ liar }, claim) =>
          liar.as(liar.client.Report({ ...claim, batch: { number: 1, entries: [lineOf("a lie")] } }))
        )
      },
      {
        name: "with a batch that comes too early",
        tell: Effect.fnUntraced(function* ({ liar, own }) {
          const batch = { number: 7, entries: [lineOf("from the future")] }
          expect(yield* liar.as(liar.client.Report({ ...own, batch }))).toEqual({ acknowledged: 0 })
        })
      },
      {
        name: "with text that would change what a reader sees",
        tell: Effect.fnUntraced(function* ({ liar, own }) {
          const hostile = "shown\u001b[2J\u202edetrevni\u0000"
          const fact = {
            kind: "diagnostic" as const,
            data: { severity: "error" as const, summary: hostile, detail: hostile }
          }
          const batch = { number: 1, entries: [lineOf(hostile), { kind: "event", at, fact }] }
          const { text: said } = yield* liar.unchecked("Report", { ...own, batch })
          expect(said).toContain('"acknowledged":1')
          const sql = yield* SqlClient.SqlClient
          const stored = yield* sql<{ content: string }>`SELECT entries AS content FROM run_log_chunks
            WHERE run_id = ${own.runId} UNION ALL SELECT data AS content FROM run_events WHERE run_id = ${own.runId}`
          const all = stored.map(({ content }) => content).join("\n")
          expect(all).toContain("shown")
          for (const hidden of ["\u001b", "\\u001b", "\u202e", "\\u202edet", "\u0000", "\\u0000"]) {
            expect(all.replaceAll("\\\\", "")).not.toContain(hidden)
          }
        })
      }
    ]
  },
  Checkpoint: {
    malformed: [
      ({ held }) => ({ ...held, serial: "1", resourceCount: 1, blob: digest }),
      ({ held }) => ({ ...held, serial: 1, resourceCount: 1, blob: "../x" }),
      ...malformedFiles(({ held }, files) => ({ ...held, serial: 1, resourceCount: 1, blob: digest, files }))
    ],
    lies: [
      ...inlineStates,
      {
        name: "of another's Run, with a state of the other's",
        tell: ofOthers(({ digests, liar }, claim) =>
          liar.as(liar.client.Checkpoint({ ...claim, serial: 9, resourceCount: 1, blob: digests.state }))
        )
      },
      {
        name: "of a plan, which has no states",
        tell: ({ liar, own }) =>
          refused(liar.as(liar.client.Checkpoint({ ...own, serial: 1, resourceCount: 1, blob: digest })), "Rejected")
      },
      {
        name: "with a blob that was not put, or is another kind of thing",
        tell: Effect.fnUntraced(function* ({ held, honest }) {
          const say = (blob: string) =>
            honest.as(honest.client.Checkpoint({ ...held, serial: 50, resourceCount: 1, blob }))
          yield* refused(say(digest), "Rejected")
          const bytes = yield* honest.sealed(held, "outcome", stateFile(50))
          yield* honest.send(held, "state", digestOf(bytes), bytes, 0, bytes.length)
          yield* refused(say(digestOf(bytes)), "Rejected")
        })
      },
      {
        name: "with something that is no state, or a state that is another than it says",
        tell: Effect.fnUntraced(function* ({ held, honest }) {
          const contents = [text("not a state"), text('{"version":4,"serial":50,"lineage":"lineage"'), stateFile(49)]
          for (const content of contents) {
            const blob = yield* honest.put(held, "state", content)
            const told = honest.as(honest.client.Checkpoint({ ...held, serial: 50, resourceCount: 1, blob }))
            yield* refused(told, "Rejected")
          }
        })
      }
    ]
  },
  Result: {
    malformed: [
      ({ own }) => ({ ...own, lastBatch: 0, outcome: "x" }),
      ({ own }) => ({ ...own, lastBatch: 0, outcome: digest, lastReport: { number: 0, entries: [] } }),
      ...malformedFiles(({ own }, files) => ({ ...own, lastBatch: 0, outcome: digest, files }))
    ],
    lies: [
      ...inlineResults,
      {
        name: "of another's Run",
        tell: ofOthers(({ digests, liar }, claim) =>
          liar.as(liar.client.Result({ ...claim, lastBatch: 0, outcome: digests.outcome }))
        )
      },
      {
        name: "of another kind, sealed for another Run, or without its files",
        tell: Effect.fnUntraced(function* ({ held, liar, own }) {
          const say = (outcome: string, more: object = {}) =>
            liar.as(liar.client.Result({ ...own, lastBatch: 0, outcome, ...more }))
          yield* refused(say(digest), "Rejected")
          const apply = text(JSON.stringify({ kind: "apply", status: "left", left: null }))
          yield* refused(say(yield* liar.put(own, "outcome", apply)), "Rejected")
          yield* refused(say(yield* liar.put(own, "outcome", text("no outcome"))), "Rejected")
          const elsewhere = yield* liar.sealed(held, "outcome", apply)
          yield* liar.send(own, "outcome", digestOf(elsewhere), elsewhere, 0, elsewhere.length)
          yield* refused(say(digestOf(elsewhere)), "Rejected")
          const ended = yield* liar.put(own, "outcome", text(JSON.stringify(failedPlan)))
          for (const file of ["planFile", "state", "build"]) yield* refused(say(ended, { [file]: digest }), "Rejected")
          yield* refused(liar.as(liar.client.Result({ ...own, lastBatch: 99, outcome: ended })), "Busy")
        })
      }
    ]
  },
  HandIn: {
    malformed: [({ own }) => ({ ...own, leftOver: "x" })],
    lies: [
      {
        name: "of another's Run",
        tell: ofOthers(({ digests, liar }, claim) =>
          liar.as(liar.client.HandIn({ ...claim, leftOver: digests.left_over }))
        )
      },
      {
        name: "of a plan, and of an apply that is still its own",
        tell: Effect.fnUntraced(function* ({ held, honest, liar, own }) {
          yield* refused(liar.as(liar.client.HandIn({ ...own, leftOver: digest })), "Rejected")
          yield* refused(honest.as(honest.client.HandIn({ ...held, leftOver: digest })), "Rejected")
        })
      }
    ]
  }
} satisfies Partial<Readonly<Record<Tag, Told>>>
