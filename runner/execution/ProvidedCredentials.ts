import { Context, Effect, type Redacted, Schema } from "effect"
import type { ProvidedMark } from "../../schema/agent/ProvidedMark.ts"
import type { CredentialFile } from "./RunJob.ts"

/** This machine lacks credentials that its pool should provide for a Connection. `message` contains no value. */
export class NotProvided extends Schema.TaggedError<NotProvided>()("NotProvided", { message: Schema.String }) {}

/**
 * This machine's own credentials for one provider.
 *
 * - `label`: identifies the values, which may be replaced while the label remains the same
 * - `mark`: identifies the values to the control plane; absent if there is no mark
 * - `publicNames`: variables, and members of JSON documents, whose values are not secret and may appear in a plan
 */
export interface ProvidedSet {
  readonly label?: string | undefined
  readonly mark?: string | undefined
  readonly publicNames?: ReadonlyArray<string>
  readonly values: Readonly<Record<string, Redacted.Redacted<string>>>
  readonly files: ReadonlyArray<CredentialFile>
}

/**
 * The machine's own credentials by name. Connections refer to the names; the values are never in a job, nor in anything else that
 * leaves the machine. The control plane has none of these credentials.
 *
 * - `described`: everything that the machine's operator has declared
 * - `names`: the credentials that are complete now
 * - `marks`: the marks of credentials that are complete now, or were complete when they were last read
 * - `read`: reads the values each time, so that the next Run uses the new values after a replacement
 */
export interface ProvidedCredentials {
  readonly described: Effect.Effect<ReadonlyArray<string>>
  readonly names: Effect.Effect<ReadonlyArray<string>>
  readonly marks: Effect.Effect<ReadonlyArray<ProvidedMark>>
  readonly read: (name: string) => Effect.Effect<ProvidedSet, NotProvided>
}

export const ProvidedCredentials = Context.Reference<ProvidedCredentials>("svc/runner/execution/ProvidedCredentials", {
  defaultValue: () => ({
    described: Effect.succeed([]),
    names: Effect.succeed([]),
    marks: Effect.succeed([]),
    read: (name) =>
      Effect.fail(
        new NotProvided({
          message: `The credentials ${name} are with the agents of a pool, and the control plane does not have them.`
        })
      )
  })
})
