import { fileURLToPath } from "node:url"
import { Schema } from "effect"

export const fixtureFolder = fileURLToPath(new URL("databases", import.meta.url))

/** Returns the path of the packed data folder from a release with this table version. */
export const fixtureFile = (version: number): string => `${fixtureFolder}/${String(version).padStart(4, "0")}.tar.gz`

/** The contents of a fixture. The secrets are used nowhere else. */
export const Fixture = Schema.Struct({
  version: Schema.Int,
  token: Schema.String,
  workspaceId: Schema.String,
  /** An applied Capsule. Its Output `greeting` is `applied`. */
  appliedCapsuleId: Schema.String,
  /** A Capsule whose first plan waits for approval. */
  waitingCapsuleId: Schema.String,
  waitingPlanId: Schema.String,
  gitOrigin: Schema.String
})
export type Fixture = typeof Fixture.Type

const FixtureText = Schema.fromJsonString(Fixture)
export const encodeFixture = Schema.encodeEffect(FixtureText)
export const decodeFixture = Schema.decodeEffect(FixtureText)
