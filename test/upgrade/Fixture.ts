import { fileURLToPath } from "node:url"
import { Schema } from "effect"

export const fixtureFolder = fileURLToPath(new URL("databases", import.meta.url))

/** The data folder and contents from a release with this table version. */
export const fixtureFile = (version: number): string => `${fixtureFolder}/${String(version).padStart(4, "0")}.tar.gz`

/** The contents of a fixture. Its secrets are used nowhere else. */
export const Fixture = Schema.Struct({
  version: Schema.Int,
  token: Schema.String,
  workspaceId: Schema.String,
  /** Applied once. Its Output `greeting` is `applied`. */
  appliedCapsuleId: Schema.String,
  /** The Capsule's first plan is waiting for approval. */
  waitingCapsuleId: Schema.String,
  waitingPlanId: Schema.String,
  gitOrigin: Schema.String
})
export type Fixture = typeof Fixture.Type

const FixtureText = Schema.fromJsonString(Fixture)
export const encodeFixture = Schema.encodeEffect(FixtureText)
export const decodeFixture = Schema.decodeEffect(FixtureText)
