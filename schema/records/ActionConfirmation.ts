import { Schema } from "effect"
import { WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** Actions that a token may perform only after a person confirms them in the browser. The names match the audit history. */
export const ConfirmableAction = Schema.Literals(["capsule.export", "source.hook_secret.renew"])
export type ConfirmableAction = typeof ConfirmableAction.Type

/** Request header that contains the code of an approved confirmation. */
export const confirmationHeader = "x-svc-confirmation"

/** Request headers for an action that a token may perform only after a confirmation. */
export const confirmationHeaders = {
  [confirmationHeader]: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "The `code` of a confirmation that the person has approved (`POST /api/v1/confirmations`). A token needs it; a session does not."
    })
  )
}

/**
 * The response to a client that requests a confirmation. The client keeps `code` secret; the person checks that `userCode`
 * matches.
 */
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

/** The confirmation as shown to the client that requested it. */
export const ActionConfirmation = Schema.Struct({
  status: ActionConfirmationStatus,
  expiresAt: Timestamp,
  interval: Schema.Int
}).annotate({ identifier: "ActionConfirmation" })
export type ActionConfirmation = typeof ActionConfirmation.Type

/** The confirmation as shown to the person who decides about it. */
export const WaitingConfirmation = Schema.Struct({
  userCode: Schema.String,
  action: ConfirmableAction,
  workspace: Schema.Struct({ id: WorkspaceId, handle: Schema.String }),
  target: Schema.Struct({ kind: Schema.Literals(["capsule", "source"]), id: Schema.String, name: Schema.String }),
  /** Name of the token or application that requests the confirmation. */
  asker: Schema.Struct({ kind: Schema.Literals(["token", "application"]), name: Schema.String }),
  createdAt: Timestamp,
  expiresAt: Timestamp
}).annotate({ identifier: "WaitingConfirmation" })
export type WaitingConfirmation = typeof WaitingConfirmation.Type
