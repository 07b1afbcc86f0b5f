import { expect, test } from "bun:test"
import { Schema } from "effect"
import {
  preparedApplySchema,
  preparedDriftCheckSchema,
  preparedPlanSchema
} from "../../../../actors/running/execution/PreparationSchemas.ts"
import type { RunEvidence } from "../../../../schema/records/Run.ts"
import { namedDependency, namedReport, namedStateVersion } from "../../../support/NamedIds.ts"

const evidence: RunEvidence = { tool: { name: "opentofu", version: "1.10.0" } }

const plan = {
  reportId: namedReport("a"),
  evidence,
  place: { url: "https://git.example.test/app.git", path: "." },
  consumed: [
    { dependencyId: namedDependency("a"), output: "url", input: "url", stateVersionId: namedStateVersion("a") }
  ],
  deliveries: {
    endpoint: { url: "https://app.example.test" },
    secrets: [{ target: "variable:token", bytes: 32, encoding: "hex" as const }]
  }
}

const apply = {
  evidence,
  tool: { name: "terraform" as const, version: "1.9.0" },
  lockText: "provider {}",
  lifecycle: { postApply: [{ name: "health", kind: "http" as const, target: { endpoint: true as const } }] }
}

test("a preparation round-trips through its schema", () => {
  expect(Schema.decodeSync(preparedPlanSchema.json)(Schema.encodeSync(preparedPlanSchema.json)(plan))).toEqual(plan)
  expect(Schema.decodeSync(preparedApplySchema.json)(Schema.encodeSync(preparedApplySchema.json)(apply))).toEqual(apply)
  const least = { evidence: {}, tool: apply.tool }
  expect(Schema.decodeSync(preparedApplySchema.json)(Schema.encodeSync(preparedApplySchema.json)(least))).toEqual(least)
  expect(
    Schema.decodeSync(preparedDriftCheckSchema.json)(Schema.encodeSync(preparedDriftCheckSchema.json)({ evidence }))
  ).toEqual({
    evidence
  })
})

test("writing a preparation omits fields that its schema does not declare", () => {
  const value = "forms-canary-91d2"
  const more = { value, variables: { key: value } }
  const consumed = plan.consumed.map((output) => ({ ...output, ...more }))
  const secrets = plan.deliveries.secrets.map((shape) => ({ ...shape, ...more }))
  const loaded = { ...plan, ...more, consumed, deliveries: { ...plan.deliveries, ...more, secrets } }
  expect(Schema.encodeSync(preparedPlanSchema.json)(loaded)).toBe(Schema.encodeSync(preparedPlanSchema.json)(plan))
  const job = { ...apply, ...more, evidence: { ...evidence, ...more }, tool: { ...apply.tool, ...more } }
  expect(Schema.encodeSync(preparedApplySchema.json)(job)).toBe(Schema.encodeSync(preparedApplySchema.json)(apply))
})
