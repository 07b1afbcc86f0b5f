import { Schema } from "effect"
import type { Rpc } from "effect/rpc"
import { AuditActor } from "../records/AuditEvent.ts"

/** The commands of one kind of actor. */
export interface Commands<Type extends string, Rpcs extends Rpc.Any> {
  readonly type: Type
  readonly commands: ReadonlyArray<Rpcs>
}

/** Declares the commands of one kind of actor. */
export const commandsOf = <const Type extends string, Rpcs extends Rpc.Any>(
  type: Type,
  commands: ReadonlyArray<Rpcs>
): Commands<Type, Rpcs> => ({ type, commands })

/** The command of this name. */
export type Named<Rpcs extends Rpc.Any, Name extends string> = Extract<Rpcs, { readonly _tag: Name }>

/** The caller of a command, already authenticated and authorised by the HTTP layer. */
export const CommandContext = Schema.Struct({
  actor: AuditActor,
  /** The subject or token id that scopes idempotency keys. */
  actorKey: Schema.String,
  requestId: Schema.optionalKey(Schema.String)
})
export type CommandContext = typeof CommandContext.Type

/** The key of a repeatable create, parsed at the edge, with the digest of its normalised request. */
export const IdempotentRequest = Schema.Struct({ key: Schema.String, requestDigest: Schema.String })
export type IdempotentRequest = typeof IdempotentRequest.Type

/** A result that may be a replay. */
export const replayable = <S extends Schema.Top>(value: S) => Schema.Struct({ value, replayed: Schema.Boolean })
export interface Replayable<A> {
  readonly value: A
  readonly replayed: boolean
}

/** The service itself, acting without a person: schedules, webhooks, coordinators. */
export const serviceContext: CommandContext = { actor: { kind: "service" }, actorKey: "service" }
