import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { suite } from "../../../support/Effect.ts"
import { active } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { admin, ruled } from "../../support/ApprovalSteps.ts"
import { approveChange, planLane, reasonsOf, speculated } from "../../support/ChangeSteps.ts"
import { cloned, mergeWays } from "../../support/MergedClone.ts"

/** Chooses the modules and histories. A failure prints it. */
const seed = Number(process.env["SVC_CARRY_SEED"] ?? 20_261_130)
const cases = Number(process.env["SVC_CARRY_CASES"] ?? 1)
setDefaultTimeout(120_000 + cases * 120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)
const withoutRules = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)
afterEach(() => tests.runPromise(withoutRules))

const text = fc
  .array(fc.constantFrom("a", "B", "7", " ", "ü", '"', "\\", "\n", "-"), { maxLength: 6 })
  .map((parts) => parts.join(""))
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    text,
    fc.boolean(),
    fc.constantFrom(0, -1, 1.5, 12_345_678),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(word, tie("any"), { maxKeys: 3 })
  )
})).any

/** The contents of a generated module, besides what only its change adds. */
const contents = fc.record({
  values: fc.array(value, { minLength: 1, maxLength: 3 }),
  keys: fc.uniqueArray(word, { maxLength: 3 }),
  count: fc.integer({ min: 0, max: 2 }),
  usesSecret: fc.boolean(),
  output: value,
  inner: value
})
type Contents = typeof contents extends fc.Arbitrary<infer A> ? A : never

/** The places of a change that no plan shows. */
const hiddenPlaces = ["unknown", "provisioner", "file", "innerUnknown", "innerProvisioner"] as const
type Hidden = Readonly<Record<(typeof hiddenPlaces)[number], string>>

const hcl = (of: unknown) => JSON.stringify(of)

const later = (unknown: string, command: string) => `
resource "terraform_data" "later" {}
resource "terraform_data" "behind" {
  input = "\${terraform_data.later.id}-${unknown}"
}
resource "terraform_data" "running" {
  input = terraform_data.behind.output
  provisioner "local-exec" {
    command = "echo ${command}"
  }
}
`

/** Returns the files of a module. The parts of a plan that are hidden exist only in a change. */
const filesOf = (
  { count, inner, keys, output, usesSecret, values }: Contents,
  hidden?: Hidden
): Readonly<Record<string, string>> => ({
  "main.tf": `variable "secret" {
  type      = string
  sensitive = true
}
${values.map((each, index) => `resource "terraform_data" "value${index}" {\n  input = ${hcl(each)}\n}\n`).join("")}
resource "terraform_data" "keyed" {
  for_each = toset(${hcl(keys)})
  input    = each.key
}
resource "terraform_data" "counted" {
  count = ${count}
  input = count.index
}
resource "terraform_data" "private" {
  input = ${usesSecret ? "var.secret" : '"nothing"'}
}
output "value" {
  value = ${hcl(output)}
}
module "inner" {
  source = "./inner"
}
`,
  "inner/main.tf": `resource "terraform_data" "inner" {\n  input = ${hcl(inner)}\n}\n`,
  ...(hidden === undefined
    ? {}
    : {
        "later.tf": `${later(hidden.unknown, hidden.provisioner)}
resource "terraform_data" "read" {
  input = "\${terraform_data.later.id}-\${file("\${path.module}/read.txt")}"
}
`,
        "inner/later.tf": later(hidden.innerUnknown, hidden.innerProvisioner),
        "read.txt": hidden.file
      })
})

const plans = fc.record({
  secret: fc.stringMatching(/^[a-z0-9]{12,16}$/),
  before: contents,
  steps: fc.array(contents, { maxLength: 2 }),
  after: contents,
  hidden: fc.record({ unknown: word, provisioner: word, file: word, innerUnknown: word, innerProvisioner: word }),
  /** The number of commits of the base outside the module between the pull request and its merge. */
  others: fc.integer({ min: 1, max: 2 })
})

const sampled = fc.sample(plans, { seed, numRuns: cases })

/** Applies the module, opens the change in a branch, and approves it. */
const approved = Effect.fnUntraced(function* (name: string, plan: (typeof sampled)[number], hidden?: Hidden) {
  const { capsule } = yield* active(name, filesOf(plan.before), { variables: { secret: plan.secret } })
  const { commit, git, write } = yield* cloned
  const writeAll = (files: Readonly<Record<string, string>>) => {
    for (const [path, content] of Object.entries(files)) write(path, content)
  }
  git("checkout", "-q", "-b", `${name}-change`, `origin/${name}`)
  const base = git("rev-parse", "HEAD")
  for (const step of plan.steps) {
    writeAll(filesOf(step))
    commit("A step")
  }
  writeAll(filesOf(plan.after, hidden))
  commit("The change")
  const head = git("rev-parse", "HEAD")
  git("push", "-q", "origin", `${name}-change`)
  const change = yield* speculated(capsule.id, `${name}-change`)
  yield* ruled({ approvers: 1, planAuthorCounts: false, carryOver: "approval" })
  yield* approveChange(yield* admin, change)

  /** Merges the change, followed by `more`, and plans the lane. */
  const merged = Effect.fnUntraced(function* (
    merge: (typeof mergeWays)[number][1],
    others: number,
    more: Readonly<Record<string, string>> = {}
  ) {
    git("checkout", "-q", "-B", `${name}-change`, head)
    git("checkout", "-q", "-B", name, base)
    for (let index = 0; index < others; index++) {
      write(`docs/other${index}.md`, `Other ${index}`)
      commit("Something else")
    }
    merge(git, name)
    if (Object.keys(more).length > 0) {
      writeAll(more)
      commit("After the review")
    }
    git("push", "-q", "--force", "origin", name)
    return yield* planLane(capsule.id, capsule.sourceId)
  })
  return { change, merged }
})

const isMissing = Bun.which("terraform") === null || Bun.which("git") === null

describe.skipIf(isMissing)(`Generated changes of the seed ${seed}`, () => {
  for (const [index, plan] of sampled.entries()) {
    tests.live(`change ${index} of seed ${seed} has one digest and stays approved, whichever way it is merged`, () =>
      Effect.gen(function* () {
        // A provisioner may read any file, so other commits of the base keep the approval only without one.
        for (const [name, hidden, others] of [
          ["with", plan.hidden, 0],
          ["without", undefined, plan.others]
        ] as const) {
          const { change, merged } = yield* approved(`${name}-${index}`, plan, hidden)
          expect(change.changeDigest).toMatch(/^hmac-sha256:/)
          for (const [way, merge] of mergeWays) {
            const lane = yield* merged(merge, others)
            expect([name, way, lane.changeDigest, lane.carriedFrom?.runId, lane.differsFrom]).toEqual([
              name,
              way,
              change.changeDigest,
              change.id,
              undefined
            ])
          }
          yield* withoutRules
        }
      })
    )

    tests.live(
      `change ${index} of seed ${seed} loses its approval if only what no plan shows is changed after the review`,
      () =>
        Effect.gen(function* () {
          const { change, merged } = yield* approved(`hidden-${index}`, plan, plan.hidden)
          for (const [at, place] of hiddenPlaces.entries()) {
            const other = { ...plan.hidden, [place]: `${plan.hidden[place]}x` }
            const chosen = mergeWays[(index + at) % mergeWays.length]
            if (chosen === undefined) return yield* Effect.die("no way")
            const [way, merge] = chosen
            const lane = yield* merged(merge, 0, filesOf(plan.after, other))
            // No plan can tell the two changes apart, so only the files do.
            expect([place, way, lane.changeDigest]).toEqual([place, way, change.changeDigest])
            expect([place, way, lane.status, lane.carriedFrom, reasonsOf(lane)]).toEqual([
              place,
              way,
              "waiting_approval",
              undefined,
              ["files"]
            ])
          }
          // Without such a change the same approval still counts.
          const [plain] = mergeWays
          if (plain === undefined) return yield* Effect.die("no way")
          expect((yield* merged(plain[1], 0)).carriedFrom?.runId).toBe(change.id)
        })
    )
  }
})
