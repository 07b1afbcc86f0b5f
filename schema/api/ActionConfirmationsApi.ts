import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ActionConfirmation, ConfirmableAction, NewActionConfirmation } from "../records/ActionConfirmation.ts"
import { WorkspaceId } from "../records/Ids.ts"
import { created } from "./AnswerStatus.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

/** `targetId` is the id of the Capsule or the Source. */
export const ConfirmationToBegin = Schema.Struct({
  workspaceId: WorkspaceId,
  action: ConfirmableAction,
  targetId: Schema.String.check(Schema.isMaxLength(64))
}).annotate({ identifier: "ConfirmationToBegin" })

/** Lets a client with a token ask the token's owner to confirm one action in the browser. */
export class ActionConfirmationsApi extends HttpApiGroup.make("actionConfirmations")
  .add(
    HttpApiEndpoint.post("begin", "/api/v1/confirmations", {
      payload: ConfirmationToBegin,
      success: Schema.Struct({ confirmation: NewActionConfirmation }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("poll", "/api/v1/confirmations/poll", {
      payload: Schema.Struct({ workspaceId: WorkspaceId, code: Schema.String.check(Schema.isMaxLength(128)) }),
      success: Schema.Struct({ confirmation: ActionConfirmation })
    })
  )
  .annotateEndpoints(ExtensionFamily, "action-confirmations") {}
