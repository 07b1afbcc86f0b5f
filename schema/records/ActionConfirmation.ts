import { Schema } from "effect"
import { WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** The actions that a person can confirm in the browser for a token, named as the operation history names them. */
export const ConfirmableAction = Schema.Literals(["capsule.export", "source.hook_secret.renew"])
export type ConfirmableAction = typeof ConfirmableAction.Type

/** The header that carries the code of an approved confirmation. */
export const confirmationHeader = "x-svc-confirmation"

/** The headers of a request that a token may make with a confirmation. */
export const confirmationHeaders = {
  [confirmationHeader]: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "The `code` of a confirmation that the person has approved (`POST /api/v1/confirmations`). A token needs it; a session does not."
    })
  )
}

/** The answer to a client that asks for a confirmation. `code` is the client's secret, `userCode` what the person compares. */
export const NewActionConfirmation = Schema.Struct({
  code: Schema.String,
  userCode: Schema.String,
  verificationUri: Schema.String,
  verificationUriComplete: Schema.String,
  expiresAt: Timestamp,
  interval: Schema.Int.annotate({ description: "Seconds between two polls." })
}).annotate({ identifier: "NewActionConfirmation" })

export const ActionConfirmationStatus = Schema.Literals(["pending", "approved", "denied", "used", "expired"])
export type ActionConfirmationStatus = typeof ActionConfirmationStatus.Type

/** The state of a confirmation for the client that asked for it. */
export const ActionConfirmation = Schema.Struct({
  status: ActionConfirmationStatus,
  expiresAt: Timestamp,
  interval: Schema.Int
}).annotate({ identifier: "ActionConfirmation" })
export type ActionConfirmation = typeof ActionConfirmation.Type

/** What the person decides on. */
export const WaitingConfirmation = Schema.Struct({
  userCode: Schema.String,
  action: ConfirmableAction,
  workspace: Schema.Struct({ id: WorkspaceId, handle: Schema.String }),
  target: Schema.Struct({ kind: Schema.Literals(["capsule", "source"]), id: Schema.String, name: Schema.String }),
  /** The name of the token or of the application that asks. */
  asker: Schema.Struct({ kind: Schema.Literals(["token", "application"]), name: Schema.String }),
  createdAt: Timestamp,
  expiresAt: Timestamp
}).annotate({ identifier: "WaitingConfirmation" })
export type WaitingConfirmation = typeof WaitingConfirmation.Type
