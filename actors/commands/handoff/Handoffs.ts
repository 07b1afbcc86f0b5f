import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { type HandoffTarget, isProductKey } from "../../../schema/handoff/InstallLink.ts"
import { returnRedirect } from "../../../schema/handoff/ReturnRedirect.ts"
import { isReturnUri } from "../../../schema/handoff/ReturnUri.ts"
import { roleAtLeast } from "../../../schema/records/Workspace.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Memberships } from "../../ledger/workspace/Memberships.ts"
import { Endpoints } from "../../inputs/delivery/Endpoints.ts"
import { SetupTickets } from "./SetupTickets.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { RunStatus, RunType } from "../../../schema/records/Run.ts"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"

const { environment, name, project_id, public_endpoint } = CapsuleRow.columns

/** A Run with its Capsule, if it has one. */
const AppliedRow = rowShape({
  id: RunId,
  workspace_id: WorkspaceId,
  type: RunType,
  status: RunStatus,
  capsule_id: Schema.NullOr(CapsuleId),
  project_id: Schema.NullOr(project_id),
  name: Schema.NullOr(name),
  environment: Schema.NullOr(environment),
  public_endpoint
})
type AppliedRow = RowOf<typeof AppliedRow.columns>

/** Completes a hand-off flow by returning the created records to the client. */
export class Handoffs extends Context.Service<
  Handoffs,
  {
    /**
     * Returns the URL to which the person's browser is redirected after a successful apply. It contains a new setup ticket, so it
     * is a secret. Only people who may apply in the Workspace get a ticket.
     */
    readonly complete: (
      context: CommandContext,
      subject: string,
      runId: RunId | null,
      target: HandoffTarget,
      serviceOrigin: string
    ) => Effect.Effect<Redacted.Redacted<string>, ApiError>
  }
>()("svc/actors/commands/handoff/Handoffs") {
  static readonly layer = Layer.effect(
    Handoffs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const memberships = yield* Memberships
      const tickets = yield* SetupTickets
      const endpoints = yield* Endpoints

      /** Returns the URL in the module's Output, or the one that the operator assigned. A Capsule may have neither. */
      const hostUrlOf = (row: AppliedRow) => {
        const { capsule_id: id, environment, name, project_id, public_endpoint, workspace_id } = row
        if (public_endpoint !== null) return Effect.succeed(public_endpoint)
        if (id === null || project_id === null || name === null || environment === null) return Effect.undefined
        return endpoints.resolve({ id, workspace_id, project_id, name, environment }).pipe(
          Effect.map(({ url }) => url),
          Effect.catchTag("DeliveryRefused", () => Effect.undefined)
        )
      }

      const applied = Effect.fnUntraced(function* (runId: RunId | null, subject: string) {
        const [row] = yield* Effect.orDie(AppliedRow.rows(
          sql
        )`SELECT r.id, r.workspace_id, r.type, r.status, r.capsule_id, c.project_id, c.name,
            c.environment, c.public_endpoint
          FROM runs r LEFT JOIN capsules c ON c.id = r.capsule_id WHERE r.id = ${runId}`)
        if (row === undefined) return yield* notFound("Run")
        const role = yield* memberships.role(subject, row.workspace_id)
        if (Option.isNone(role) || !roleAtLeast(role.value, "admin")) {
          return yield* new ApiError({
            code: "permission_denied",
            message: "Only somebody who may apply in the Workspace takes its hand-off further."
          })
        }
        if (row.type !== "apply" || row.status !== "succeeded" || row.capsule_id === null) {
          return yield* failedPrecondition("The hand-off ends with a successful apply; this Run is none.")
        }
        return {
          runId: row.id,
          workspaceId: row.workspace_id,
          capsuleId: row.capsule_id,
          hostUrl: yield* hostUrlOf(row)
        }
      })

      const complete = Effect.fn("Handoffs.complete")(function* (
        context: CommandContext,
        subject: string,
        applyRunId: RunId | null,
        target: HandoffTarget,
        serviceOrigin: string
      ) {
        if (!isProductKey(target.product) || !isReturnUri(target.returnUri, serviceOrigin)) {
          return yield* invalidRequest("product and returnUri: expected those of a valid hand-off link.")
        }
        const { capsuleId, hostUrl, runId, workspaceId } = yield* applied(applyRunId, subject)
        const setupTicket = yield* tickets.mint({ product: target.product, workspaceId, capsuleId, runId, subject })
        yield* audit.append({
          workspaceId,
          actor: context.actor,
          action: "handoff.return",
          target: { kind: "capsule", id: capsuleId },
          capsuleId,
          runId,
          data: { product: target.product },
          requestId: context.requestId
        })
        return returnRedirect(target, { hostUrl, runId, capsuleId, setupTicket })
      }, transaction(sql))

      return Handoffs.of({ complete })
    })
  )
}
