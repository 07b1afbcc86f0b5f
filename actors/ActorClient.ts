import { Effect } from "effect"
import type { ClusterError, Entity } from "effect/cluster"
import type { Rpc } from "effect/rpc"
import { ActorHost, type Named } from "./ActorHost.ts"

/**
 * How commands reach these actors: `send(id, "Update", payload)`. A command runs in the caller's fiber when it is the record's
 * turn; if the caller is interrupted, so is the command. If too many are waiting, it is refused with a retryable 429.
 */
export const commandsTo = <Type extends string, Rpcs extends Rpc.Any>(actor: Entity.Entity<Type, Rpcs>) =>
  Effect.map(ActorHost, ({ command }) => {
    return <Name extends Rpcs["_tag"]>(id: string, name: Name, payload: Rpc.Payload<Named<Rpcs, Name>>) =>
      command(actor, id, name, (handlers) => handlers[name]({ payload }))
  })

type Undelivered =
  | ClusterError.MailboxFull
  | ClusterError.AlreadyProcessingMessage
  | ClusterError.PersistenceError
  | ClusterError.EntityNotAssignedToRunner

/** A hand-over within the sender's transaction: the stored message takes effect when the transaction commits. */
export const handedOver = <A, R>(sent: Effect.Effect<A, Undelivered, R>): Effect.Effect<void, never, R> =>
  Effect.asVoid(Effect.orDie(sent))
