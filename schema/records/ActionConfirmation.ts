import { Schema } from "effect"
import { WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** The actions that a person can confirm in the browser for a token. Their names are those of the audit history. */
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

/** The response to a client that requests a confirmation. `code` is the client's secret, and the person compares `userCode`. */
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

/** The state of a confirmation for the client that requested it. */
export const ActionConfirmation = Schema.Struct({
  status: ActionConfirmationStatus,
  expiresAt: Timestamp,
  interval: Schema.Int
}).annotate({ identifier: "ActionConfirmation" })
export type ActionConfirmation = typeof ActionConfirmation.Type

/** The confirmation as shown to the person. */
export const WaitingConfirmation = Schema.Struct({
  userCode: Schema.String,
  action: ConfirmableAction,
  workspace: Schema.Struct({ id: WorkspaceId, handle: Schema.String }),
  target: Schema.Struct({ kind: Schema.Literals(["capsule", "source"]), id: Schema.String, name: Schema.String }),
  /** The name of the token or the application that requests the confirmation. */
  asker: Schema.Struct({ kind: Schema.Literals(["token", "application"]), name: Schema.String }),
  createdAt: Timestamp,
  expiresAt: Timestamp
}).annotate({ identifier: "WaitingConfirmation" })
export type WaitingConfirmation = typeof WaitingConfirmation.Type
