import { Context, type Effect, Schema } from "effect"
import type { Rpc } from "effect/rpc"
import type { ApiError } from "../errors/ApiError.ts"
import { AuditActor } from "../records/AuditEvent.ts"

/** Selects the command with this name. */
export type Named<Rpcs extends Rpc.Any, Name> = Extract<Rpcs, { readonly _tag: Name }>

/**
 * Sends commands to one kind of actor. If too many commands are waiting for a record, further commands for it fail with a
 * retryable 429.
 */
export type Client<Id, Rpcs extends Rpc.Any> = {
  readonly [Name in Rpcs["_tag"]]: (
    id: Id,
    payload: Rpc.Payload<Named<Rpcs, Name>>
  ) => Effect.Effect<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>> | ApiError>
}

/** The service key of the client for one kind of actor. */
export interface CommandsOf<Type extends string> {
  readonly _: unique symbol
  readonly type: Type
}

/**
 * The commands of one kind of actor. This value is also the service key of their client: `(yield* RunCommands).Cancel(id, {
 * context })`.
 */
export interface Commands<Type extends string, Id extends string, Rpcs extends Rpc.Any>
  extends Context.Service<CommandsOf<Type>, Client<Id, Rpcs>> {
  readonly type: Type
  readonly id: Schema.Codec<Id, string>
  readonly commands: ReadonlyArray<Rpcs>
}

/** Declares the commands of one kind of actor, addressed by ids of this kind. */
export const commandsOf = <const Type extends string, Id extends string, Rpcs extends ReadonlyArray<Rpc.Any>>(
  type: Type,
  id: Schema.Codec<Id, string>,
  ...commands: Rpcs
): Commands<Type, Id, Rpcs[number]> =>
  Object.assign(Context.Service<CommandsOf<Type>, Client<Id, Rpcs[number]>>(`svc/schema/commands/${type}`), {
    type,
    id,
    commands
  })

/** The caller of a command, already authenticated and authorised by the HTTP layer. */
export const CommandContext = Schema.Struct({
  actor: AuditActor,
  /** The subject or token id that owns the idempotency keys. */
  actorKey: Schema.String,
  requestId: Schema.optionalKey(Schema.String)
})
export type CommandContext = typeof CommandContext.Type

/** The idempotency key of a create, and the digest of its normalised request. */
export const IdempotentRequest = Schema.Struct({ key: Schema.String, requestDigest: Schema.String })
export type IdempotentRequest = typeof IdempotentRequest.Type

/** A result with a flag, which is true if the result is a replay. */
export const replayable = <S extends Schema.Top>(value: S) => Schema.Struct({ value, replayed: Schema.Boolean })
export interface Replayable<A> {
  readonly value: A
  readonly replayed: boolean
}

/** The caller of commands that svc itself sends, for example from schedules, webhooks and coordinators. */
export const serviceContext: CommandContext = { actor: { kind: "service" }, actorKey: "service" }
