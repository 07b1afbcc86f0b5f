import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { Effect } from "effect"
import { canarySweep } from "../../support/CanarySweep.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { canaries } from "./AgentModules.ts"
import { brokenPromises, type Witnessed } from "./BrokenPromises.ts"

type Ledger = Witnessed["ledger"]

const run = {
  capsule_id: "cap_1",
  attempt: 1,
  owner: null,
  approved_at: null,
  used_by_run_id: null,
  state_version_id: null,
  error_code: null,
  evidence: {}
}
const plan = {
  ...run,
  id: "run_plan",
  type: "plan",
  status: "succeeded",
  approved_at: "2026-01-01T00:00:00Z",
  used_by_run_id: "run_apply"
}
const apply = { ...run, id: "run_apply", type: "apply", status: "succeeded", state_version_id: "sv_1" }

const told = (run_id: string, ...kinds: ReadonlyArray<string>) =>
  kinds.map((kind, index) => ({ run_id, seq: index + 1, kind, data: {} }))

const capsule = {
  id: "cap_1",
  status: "active",
  runtime_safety: "safe",
  current_state_version_id: "sv_1",
  current_state_generation: 1,
  execution_authority_epoch: 1,
  import_confirmed_at: null
}
const state = { id: "sv_1", capsuleId: "cap_1", generation: 1, partial: false, notes: ["id-a", "id-b"] }

/** The records of a Capsule that an agent has planned and applied. The Capsule's state contains both of its notes. */
const ledger: Ledger = {
  runs: [plan, apply],
  capsules: [capsule],
  events: [
    ...told("run_plan", "run.queued", "run.waiting_approval", "run.approved"),
    ...told("run_apply", "run.queued", "run.applying", "run.succeeded")
  ],
  chunks: [{ run_id: "run_apply", first_seq: 1, last_seq: 20 }],
  installPlans: [],
  uploads: [],
  exports: [],
  restored: [],
  checkpoints: [],
  plans: [],
  integrity: [],
  states: [state]
}
const made = [
  { id: "id-a", name: "one-a" },
  { id: "id-b", name: "one-b" }
]
const whole: Witnessed = {
  ledger,
  cloud: { created: made, present: ["id-a", "id-b"] },
  capsules: new Map([["one", "cap_1"]]),
  secrets: []
}

const changed = (more: Partial<Ledger>): Witnessed => ({ ...whole, ledger: { ...ledger, ...more } })

const failed = { ...apply, status: "failed", state_version_id: null }
const failure = [
  ...told("run_plan", "run.queued", "run.waiting_approval", "run.approved"),
  ...told("run_apply", "run.queued", "run.applying", "run.failed")
]
const pending = { ...capsule, status: "pending", current_state_version_id: null, current_state_generation: 0 }
const empty = { ...state, notes: [] }

/** Worlds that each break one guarantee, with the expected report. */
const broken: ReadonlyArray<readonly [world: string, witnessed: Witnessed, said: RegExp]> = [
  [
    "the state of a successful apply is lost",
    changed({
      states: [],
      capsules: [{ ...capsule, current_state_version_id: null, current_state_generation: 0 }]
    }),
    /its state is lost/
  ],
  [
    "a state is older than what exists",
    changed({ states: [{ ...state, notes: ["id-a"] }] }),
    /one-b exists, and nobody says so[\s\S]*its state has no one-b/
  ],
  [
    "a later state lost what an earlier one had",
    changed({
      states: [state, { ...empty, id: "sv_2", generation: 2 }],
      capsules: [{ ...capsule, current_state_version_id: "sv_2", current_state_generation: 2 }]
    }),
    /its state has no one-a, one-b/
  ],
  [
    "the Capsule points at no state",
    changed({ capsules: [{ ...capsule, current_state_version_id: null }] }),
    /pointer is not at the newest state/
  ],
  [
    "the tool ran twice: the provider made a note again",
    { ...whole, cloud: { created: [...made, { id: "id-a2", name: "one-a" }], present: ["id-a2", "id-b"] } },
    /one-a was made 2 times/
  ],
  [
    "an apply was started again",
    changed({
      events: [
        ...ledger.events.slice(0, 3),
        ...told("run_apply", "run.queued", "run.phase", "run.queued", "run.phase", "run.succeeded").map((event) =>
          event.kind === "run.phase" ? { ...event, data: { phase: "apply" } } : event
        )
      ]
    }),
    /The tool of the apply run_apply began 2 times/
  ],
  [
    "an apply was settled twice: two ends",
    changed({
      events: [...ledger.events, { run_id: "run_apply", seq: 4, kind: "run.succeeded", data: {} }]
    }),
    /told to have ended 2 times/
  ],
  [
    "an apply was settled twice: two states of one generation",
    changed({ states: [state, { ...state, id: "sv_2" }] }),
    /The generation is 1 after 2 states/
  ],
  ["an apply had no plan of its own", changed({ runs: [apply] }), /no reviewed plan of its own/],
  [
    "an untruth: nothing was changed, and two notes exist",
    changed({ runs: [plan, failed], events: failure, capsules: [pending], states: [] }),
    /said to be untouched, and has one-a, one-b/
  ],
  [
    "an untruth: a success whose Capsule is unsafe",
    changed({ capsules: [{ ...capsule, runtime_safety: "unknown" }] }),
    /runtimeSafety is unknown after a success/
  ],
  [
    "an untruth: the state tells of a note that does not exist",
    { ...whole, cloud: { created: made, present: ["id-a"] } },
    /tells of id-b, which do not exist/
  ],
  [
    "notes without an apply",
    changed({ runs: [{ ...plan, used_by_run_id: null }], events: ledger.events.slice(0, 3) }),
    /one has 2 notes and no apply/
  ],
  ["a Run never ends", changed({ runs: [plan, { ...apply, status: "running" }] }), /is still running/],
  ["a Run that is over has an owner", changed({ runs: [plan, { ...apply, owner: "agt_1" }] }), /has an owner/],
  [
    "events are lost",
    changed({ events: ledger.events.filter(({ kind }) => kind !== "run.applying") }),
    /Events of run_apply have a gap/
  ],
  [
    "log lines are lost",
    changed({ chunks: [...ledger.chunks, { run_id: "run_apply", first_seq: 22, last_seq: 30 }] }),
    /Log lines of run_apply have a gap/
  ],
  ["a checkpoint stays", changed({ checkpoints: [{ id: "run_apply" }] }), /A checkpoint of run_apply stayed/],
  ["a plan file stays", changed({ plans: [{ id: "run_plan" }] }), /The saved plan of run_plan stayed/],
  ["the database is damaged", changed({ integrity: [{ row: "missing" }] }), /The database is damaged/]
]

describe("Agent verdicts", () => {
  test("the check for broken guarantees reports nothing if every guarantee was kept", () => {
    expect(brokenPromises(whole)).toEqual([])
  })

  test("the check for broken guarantees accepts a created object that is listed as possibly created", () => {
    const suspected = { ...failed, evidence: { possiblyCreated: ["demo_note.a", "demo_note.b"] } }
    const unsafe = { ...pending, status: "error", runtime_safety: "unknown" }
    expect(
      brokenPromises(changed({ runs: [plan, suspected], events: failure, capsules: [unsafe], states: [] }))
    ).toEqual([])
  })

  test("the check for broken guarantees accepts a second offer of an apply whose tool had not started", () => {
    const events = [
      ...ledger.events.slice(0, 3),
      ...told("run_apply", "run.queued", "run.applying", "run.queued", "run.applying", "run.succeeded")
    ]
    expect(brokenPromises(changed({ events }))).toEqual([])
  })

  for (const [name, witnessed, said] of broken) {
    test(`fails: ${name}`, () => {
      expect(brokenPromises(witnessed).join("\n")).toMatch(said)
    })
  }

  for (const canary of canaries) {
    it.effect(`the check for broken guarantees reports a log that contains ${canary}`, () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        writeFileSync(`${folder}/log`, `{"message":"the value is ${canary}"}\n`)
        const secrets = canarySweep(folder, canaries)
        expect(brokenPromises({ ...whole, secrets })).toEqual([`A secret is in ${folder}/log (plain)`])
      })
    )
  }
})
