import { Context, Effect, Layer, Queue, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { OperatorSuccession } from "../../actors/ledger/configuration/OperatorSuccession.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { onRemoteChange } from "../../actors/base/database/RemoteChanges.ts"
import { CommitCache } from "../../actors/base/database/CommitCache.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { Grants } from "../../actors/access/issuer/Grants.ts"
import { endRemovedRedirects } from "../../actors/access/issuer/RemovedRedirects.ts"
import type { Replacement } from "../../actors/access/issuer/StaticClients.ts"
import { changedClients } from "../../actors/access/issuer/StaticRegistry.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { ClientsInForce } from "../accounts/oidc/ClientsInForce.ts"
import { PolicyInForce, type PolicyReload } from "../composition/OperatorPolicy.ts"

/** The result of a reload. The digests are `sha256:` digests of the file, and `changed` lists the changed parts. */
export const PolicyReloaded = Schema.Struct({
  previousDigest: Schema.String,
  digest: Schema.String,
  changed: Schema.Array(Schema.String),
  /** Number of plans that became void, because their profile or base configuration is no longer current. */
  supersededPlans: Schema.Int,
  /**
   * Changes to the installation's OpenID clients: the ids of changed clients, and the number of grants that were revoked because
   * their client or redirect address was removed.
   */
  clients: Schema.Struct({ changed: Schema.Array(Schema.String), endedGrants: Schema.Int })
})
export type PolicyReloaded = typeof PolicyReloaded.Type

const refused = ({ message }: { readonly message: string }) =>
  new ApiError({ code: "failed_precondition", message: `${message} Nothing was changed.` })

const nothingToRead = {
  message:
    "The server was started without a policy file and without a file of OpenID clients. Name one with --policy-file (SVC_POLICY_FILE) or --oidc-clients-file (SVC_OIDC_CLIENTS_FILE), and start it again."
}

const unread = {
  change: { previousDigest: "none", digest: "none", changed: [] },
  apply: Effect.void,
  undo: Effect.void
}

/** The operator's policy commands for a running server. Each records an audit event `operator.command`. */
export class PolicyCommands extends Context.Service<
  PolicyCommands,
  {
    /**
     * Reloads both the policy file and the OpenID clients file, or neither of them. Fails with `failed_precondition` if
     * either file is invalid.
     */
    readonly reload: Effect.Effect<PolicyReloaded, ApiError>
  }
>()("svc/src/operator/PolicyCommands") {
  static readonly layer = Layer.effect(
    PolicyCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const policy = yield* PolicyInForce
      const registered = yield* ClientsInForce
      const grants = yield* Grants
      const operator = yield* OperatorSuccession
      const audit = yield* Audit
      const memory = yield* CommitCache

      const read = Effect.all({ policy: policy.reload, clients: registered.reload }).pipe(
        Effect.filterOrFail(
          (found) => found.policy !== undefined || found.clients !== undefined,
          () => nothingToRead
        ),
        Effect.mapError(refused)
      )

      const settle = Effect.fnUntraced(function* (change: PolicyReload, clients: Replacement | undefined) {
        const ended = clients === undefined ? 0 : yield* endRemovedRedirects(clients.before, clients.after)
        const reloaded: PolicyReloaded = {
          ...change,
          supersededPlans: yield* operator.supersedeMoved,
          clients: {
            changed: clients === undefined ? [] : changedClients(clients.before, clients.after),
            endedGrants: ended
          }
        }
        yield* audit.append({
          workspaceId: null,
          actor: serviceContext.actor,
          action: "operator.command",
          target: { kind: "policy", id: change.digest },
          data: {
            command: "admin reload",
            previousDigest: reloaded.previousDigest,
            changed: reloaded.changed,
            supersededPlans: reloaded.supersededPlans,
            clients: reloaded.clients.changed,
            endedGrants: ended
          }
        })
        return reloaded
      })

      const reload = Effect.gen(function* () {
        const { clients, policy: next = unread } = yield* read
        yield* next.apply
        if (clients !== undefined) yield* clients.apply
        const reloaded = yield* settle(next.change, clients).pipe(
          Effect.provideService(Grants, grants),
          Effect.orDie,
          transaction(sql),
          // If the audit event cannot be recorded, undo the reload and discard all settings that were read in the meantime.
          Effect.onError(() =>
            next.undo.pipe(Effect.andThen(clients?.undo ?? Effect.void), Effect.andThen(Effect.sync(memory.forget)))
          )
        )
        const parts = [...reloaded.changed, ...reloaded.clients.changed.map((id) => `OpenID client ${id}`)]
        yield* Effect.logInfo(
          `Done for an operator: svc admin reload, policy ${reloaded.digest}, changed: ${parts.join(", ") || "nothing"}, ${reloaded.supersededPlans} plans superseded, ${reloaded.clients.endedGrants} grants ended`
        )
        return reloaded
      }).pipe(Effect.withSpan("PolicyCommands.reload"))

      /**
       * Reads this server's files after another server has reloaded its files. The other server has already superseded the
       * affected plans and ended the affected grants.
       */
      const follow = Effect.gen(function* () {
        const next = yield* policy.reload
        const clients = yield* registered.reload
        const parts = [
          ...(next?.change.changed ?? []),
          ...(clients === undefined ? [] : changedClients(clients.before, clients.after))
        ]
        if (parts.length === 0) return
        if (next !== undefined) yield* next.apply
        if (clients !== undefined) yield* clients.apply
        memory.forget()
        yield* Effect.logInfo(
          `Read again after another server: policy ${next?.change.digest}, changed: ${parts.join(", ")}`
        )
      }).pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning(`Another server has read its policy again. ${message} This server keeps the earlier one.`)
        )
      )
      const heard = yield* Queue.sliding<void>(1)
      yield* onRemoteChange(({ kind }) => {
        if (kind === "policy" || kind === "unknown") Queue.offerUnsafe(heard, undefined)
      })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(heard), follow)))

      return PolicyCommands.of({ reload })
    })
  )
}
