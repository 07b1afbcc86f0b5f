import type { Mutant } from "./Mutant.ts"

/** Guards in one file, all covered by one test, keyed by name. */
const guardsOf = (
  file: string,
  test: string,
  guards: Readonly<Record<string, readonly [text: string, broken: string]>>
): ReadonlyArray<Mutant> => Object.entries(guards).map(([name, [text, broken]]) => ({ name, file, text, broken, test }))

/** Mutants of the facts shown to a reviewer about a plan and its module, and of the limits for an untrusted README. */
export const reviewMutants: ReadonlyArray<Mutant> = [
  ...guardsOf("actors/commands/attention/Attention.ts", "test/actors/commands/attention/AttentionTurns.test.ts", {
    "turns: the rules of approval decide": [
      "!ruled.includes(entry.runId) || counting.has",
      "ruled.includes(entry.runId) || counting.has"
    ]
  }),
  ...guardsOf("actors/access/approval/ApprovalRequests.ts", "test/actors/commands/attention/AttentionTurns.test.ts", {
    "approval requests: once an hour": ["  yield* refuseSoon(id, at)", "  yield* Effect.void"]
  }),
  ...guardsOf("actors/access/approval/ApprovalRequests.ts", "test/actors/commands/attention/AttentionTurns.test.ts", {
    "approval requests: only people whose approval counts": [
      "ineligibleBecause(open, yield*",
      "ineligibleBecause([], yield*"
    ]
  }),
  ...guardsOf("actors/commands/run/RunActor.ts", "test/actors/commands/run/RunDecisions.test.ts", {
    "discard: only the plan that was seen": [
      "if (planDigest !== undefined && planDigest !== row.plan_digest) {",
      "if (planDigest === undefined && planDigest !== row.plan_digest && context === undefined) {"
    ]
  }),
  ...guardsOf("src/dashboard/app/BulkPlans.ts", "test/dashboard/BulkPlans.test.ts", {
    "bulk: no plan that destroys or replaces": [
      "summary.destroy + summary.replace + summary.forget > 0",
      "summary.destroy + summary.replace + summary.forget < 0"
    ]
  }),
  ...guardsOf("actors/commands/run/RunComments.ts", "test/actors/commands/run/RunComments.test.ts", {
    "comments: secrets are masked": [
      "const create = insert(id, context, shown, people)",
      "const create = insert(id, context, text, people)"
    ],
    "comments: private inputs of the configuration are secrets": [
      "if (sensitive && value !== undefined)",
      "if (!sensitive && value !== undefined)"
    ],
    "comments: only the author removes": [
      "if (row.author !== context.actor.subject) {",
      "if (row.author === undefined) {"
    ],
    "comments: only members are mentioned": [
      "if (readers.length < mentions.length) {",
      "if (readers.length > mentions.length) {"
    ]
  }),
  ...guardsOf(
    "actors/ledger/staleness/ChangeCauseDecision.ts",
    "test/actors/ledger/staleness/ChangeCauseDecision.test.ts",
    {
      "causes: certain only of one": ["causes.length === 1 &&", ""],
      "causes: certain only where nothing is unknown": ["(proves || plan.unknown.length === 0)", "true"],
      "causes: what a data source reads is not recorded": [`only?.kind !== "data" &&`, ""],
      "causes: any input where the configuration is not described": [
        "partial === true || read.includes(input)",
        "read.includes(input)"
      ],
      "causes: only inputs that reach the resource": ["partial === true || read.includes(input)", "partial !== false"],
      "causes: not itself": ["moving.has(address) && address !== own", "moving.has(address) || address === own"]
    }
  ),
  ...guardsOf(
    "actors/ledger/staleness/ChangeCauseDecision.ts",
    "test/actors/ledger/staleness/ChangeCauseDecision.test.ts",
    {
      "causes: of a deposed object": ["if (change.deposed !== undefined) return [unfinished]", ""]
    }
  ),
  ...guardsOf(
    "actors/running/execution/OutputPublications.ts",
    "test/actors/running/execution/OutputPublications.test.ts",
    {
      "outputs: only those that the plan lists": [
        "!sensitive && !allowed.has(name)",
        "!sensitive && allowed.has(name) && false"
      ],
      "outputs: a failed apply publishes nothing more": [
        "stored.filter(({ sensitive }) => sensitive === 0).map(({ name }) => name)\n  const allowed",
        "stored.map(({ name }) => name)\n  const allowed"
      ],
      "outputs: published where the tool sees no change": [
        "found === undefined) return []",
        "found !== undefined) return []"
      ]
    }
  ),
  ...guardsOf("actors/running/execution/ApplySettlement.ts", "test/actors/commands/capsule/OutputPrivacy.test.ts", {
    "outputs: the apply follows its plan": ["return { result: { ...judged, outputs }", "return { result: judged"]
  }),
  ...guardsOf("runner/execution/ModuleRunner.ts", "test/runner/execution/PlanWithTool.test.ts", {
    "outputs: an earlier value keeps none private": [
      "unmarkedOutputs(session.base, (name) => isDeclaredSensitive(document, name) === false)",
      "new Set<string>()"
    ]
  }),
  ...guardsOf("runner/execution/ApplyExecution.ts", "test/runner/execution/PlanWithTool.test.ts", {
    "outputs: an apply compares none with its earlier value": [
      "if (unmarked.size === 0) return judged",
      "return judged"
    ]
  }),
  ...guardsOf(
    "actors/ledger/staleness/ChangeCauseDecision.ts",
    "test/actors/ledger/staleness/ChangeCauseDecision.test.ts",
    {
      "causes: drift that is put back exactly": [
        "canonicalJson(planned.after ?? null) === canonicalJson(drifted.before ?? null)",
        "planned.name === drifted.name"
      ],
      "causes: hidden values prove nothing": ["!isNoted(drifted.before) &&", ""]
    }
  ),
  ...guardsOf("runner/execution/PlanReferences.ts", "test/runner/execution/PlanReferences.test.ts", {
    "references: blocks may be repeated unseen": ["found.partial ||= isBlock(expression)", "found.partial ||= false"],
    "references: local values are not described": [
      `first === "local") found.partial = true`,
      `first === "local") found.partial ||= false`
    ]
  }),
  ...guardsOf(
    "actors/ledger/configuration/InstallConfigStore.ts",
    "test/actors/ledger/staleness/ChangeCauseReads.test.ts",
    {
      "causes: inputs by their values": [
        "canonicalJson(was) === canonicalJson(is) ? [] :",
        "canonicalJson(was) !== canonicalJson(is) ? [] :"
      ]
    }
  ),
  ...guardsOf("src/dashboard/readme/ReadmeLink.ts", "test/dashboard/readme/ReadmeLink.test.ts", {
    "readme: only https leads anywhere": [`protocol === "https:" &&`, ""],
    "readme: no credentials in a link": ['`${username}${password}` === ""', "true"],
    "readme: a path stays in its repository": ["origin === repository ?", 'origin !== "" ?']
  }),
  ...guardsOf("src/dashboard/readme/ReadmeTree.ts", "test/dashboard/readme/ReadmeTree.test.ts", {
    "readme: no deeper than a person nests": ["const deepest = 12", "const deepest = 1200"],
    "readme: no longer than a page draws": ["const mostParts = 6000", "const mostParts = 600_000"],
    "readme: no tags": ['decoded(withoutTags(token.raw ?? ""))', 'decoded(token.raw ?? "")']
  }),
  ...guardsOf("src/dashboard/screens/capsule/InputSources.ts", "test/dashboard/InputSources.test.ts", {
    "inputs: the operator first": [`if (origin === "operator" || origin === "host")`, `if (origin === "host")`]
  }),
  ...guardsOf("src/dashboard/screens/run/KnownEvents.ts", "test/dashboard/KnownEvents.test.ts", {
    "events: a replay is what the Run says": ["restsAt[last.kind] === run.status", "last.kind in restsAt"]
  }),
  {
    name: "build: outputs below the tool's own folders",
    file: "runner/execution/BuildArchive.ts",
    text: "part = posix.dirname(part)",
    broken: 'part = "."',
    test: "test/runner/execution/BuildPoison.test.ts"
  }
]
