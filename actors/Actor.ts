import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, References, Tracer } from "effect"
import type { Rpc } from "effect/rpc"
import { outsideTransaction } from "../runner/thread/OutsideTransaction.ts"
import type { Client, Commands, Named } from "../schema/commands/Command.ts"
import { ApiError } from "../schema/errors/ApiError.ts"
import { Readmission } from "./base/Readmission.ts"

/**
 * The actors of this process. An actor is one record; its commands run one at a time, in order of arrival. Do not rely on
 * this order for consistency, because other writers change the same rows: a command must read everything that its decision
 * depends on in the transaction that writes. A record has a mailbox and a fiber only while it has commands.
 * - `schema/commands` declares the commands of one kind of actor. The declaration is also the service key of the client.
 * - `mailboxesOf` creates that client. The client requires no services, so lower-level modules can send commands to
 *   higher-level modules. Commands wait until `serve` is running.
 * - `serve` provides the handlers, and stops the actors when its layer is closed. If the caller is interrupted, a waiting command
 *   is dropped, but a running command is completed.
 */

/** Maximum number of commands that may wait for one record. */
export const mostWaiting = 512

const tooMany = new ApiError({
  code: "rate_limited",
  message: "Too many commands are waiting for this record. Try again shortly.",
  retryAfter: 1
})

/** The handlers of an actor's commands, by name. `Needs` are the services that the handlers require. */
type Handlers<Id, Rpcs extends Rpc.Any, Needs> = {
  readonly [Name in keyof Needs]: (
    id: Id,
    payload: Rpc.Payload<Named<Rpcs, Name>>
  ) => Effect.Effect<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>>, Needs[Name]>
}

/** A command in a mailbox. */
interface Entry {
  /** Executes the command and returns its result to the caller. */
  readonly work: Effect.Effect<void>
  /** Notifies the caller that the command will not be executed. */
  readonly stop: () => void
}

interface Mailbox {
  readonly waiting: Array<Entry>
  /** The command that is running. */
  current: Entry | undefined
  fiber: Fiber.Fiber<void> | undefined
}

/** Executes a command with the services of its actor. */
type Execute<Id, Rpcs extends Rpc.Any> = <Name extends Rpcs["_tag"]>(
  caller: Context.Context<never>,
  id: Id,
  name: Name,
  payload: Rpc.Payload<Named<Rpcs, Name>>
) => Effect.Effect<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>>>

/** The handlers of one kind of actor, together with the services from the handlers' layer. */
interface Behavior<Id, Rpcs extends Rpc.Any> {
  readonly execute: Execute<Id, Rpcs>
  readonly context: Context.Context<never>
}

/** The service key for the mailboxes of one kind of actor. */
export interface MailboxesOf<Type extends string> {
  readonly _: unique symbol
  readonly type: Type
}

interface Mailboxes<Id, Rpcs extends Rpc.Any> {
  readonly open: (behavior: Behavior<Id, Rpcs>) => Effect.Effect<void>
  /** Interrupts running commands, waits until they are rolled back, and notifies every waiting caller. */
  readonly stop: Effect.Effect<void>
  /** Number of records that have a mailbox. */
  readonly busy: Effect.Effect<number>
}

/** The service key for the mailboxes of one kind of actor. */
export const mailboxesKey = <Type extends string, Id extends string, Rpcs extends Rpc.Any>({
  type
}: Commands<Type, Id, Rpcs>) => Context.Service<MailboxesOf<Type>, Mailboxes<Id, Rpcs>>(`svc/actors/mailboxes/${type}`)

/**
 * Runs a command with the services of its actor. The only context that it takes from the caller is the span and the
 * admission.
 */
const asActor = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  actor: Context.Context<R>,
  caller: Context.Context<never>
) => {
  const span = Context.getOrUndefined(caller, Tracer.ParentSpan)
  const readmission = Context.get(caller, Readmission)
  const admitted = readmission === undefined ? actor : Context.add(actor, Readmission, readmission)
  const within = span === undefined ? admitted : Context.add(admitted, Tracer.ParentSpan, span)
  const ofActor: (caller: Context.Context<never>) => Context.Context<R> = () => within
  return Effect.updateContext(effect, ofActor)
}

const isClient = <Id, Rpcs extends Rpc.Any>(
  commands: ReadonlyArray<Rpcs>,
  client: object
): client is Client<Id, Rpcs> => commands.every(({ _tag }) => _tag in client)

/** Creates the client, with one method per command. */
const clientOf = <Id, Rpcs extends Rpc.Any>(
  commands: ReadonlyArray<Rpcs>,
  send: <Name extends Rpcs["_tag"]>(
    id: Id,
    name: Name,
    payload: Rpc.Payload<Named<Rpcs, Name>>
  ) => Effect.Effect<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>> | ApiError>
): Client<Id, Rpcs> => {
  const methods = commands.map(({ _tag }: { readonly _tag: Rpcs["_tag"] }) => [
    _tag,
    (id: Id, payload: Rpc.Payload<Named<Rpcs, Rpcs["_tag"]>>) => send(id, _tag, payload)
  ])
  const client: object = Object.fromEntries(methods)
  if (isClient<Id, Rpcs>(commands, client)) return client
  throw new Error("A command has no method")
}

const makeMailboxes = <Type extends string, Id extends string, Rpcs extends Rpc.Any>({
  commands,
  type
}: Commands<Type, Id, Rpcs>) => {
  const mailboxes = new Map<string, Mailbox>()
  const opened = Deferred.makeUnsafe<void>()
  let behavior: Behavior<Id, Rpcs> | undefined
  let stopped = false

  /**
   * Starts the next command or removes the mailbox, in one synchronous step, so that no command can arrive during this step.
   */
  const hasNext = (id: Id, mailbox: Mailbox) => {
    mailbox.current = mailbox.waiting.shift()
    if (mailbox.current === undefined) mailboxes.delete(id)
    return mailbox.current !== undefined
  }

  const workOf = (id: Id, mailbox: Mailbox) =>
    Effect.whileLoop({
      while: () => hasNext(id, mailbox),
      body: () => mailbox.current?.work ?? Effect.void,
      step: () => {}
    })

  const enter = (id: Id, entry: Entry, context: Context.Context<never>) => {
    const mailbox = mailboxes.get(id)
    if (mailbox !== undefined) {
      mailbox.waiting.push(entry)
      return
    }
    const fresh: Mailbox = { waiting: [entry], current: undefined, fiber: undefined }
    mailboxes.set(id, fresh)
    fresh.fiber = Effect.runForkWith(context)(workOf(id, fresh))
  }

  /** Removes a waiting command. A running command continues. */
  const leave = (id: Id, entry: Entry) => {
    const waiting = mailboxes.get(id)?.waiting ?? []
    const index = waiting.indexOf(entry)
    if (index >= 0) waiting.splice(index, 1)
  }

  const ask = <Name extends Rpcs["_tag"]>(
    { context, execute }: Behavior<Id, Rpcs>,
    caller: Context.Context<never>,
    id: Id,
    name: Name,
    payload: Rpc.Payload<Named<Rpcs, Name>>
  ) =>
    // Registers the caller, enters the mailbox and starts its fiber in one step that cannot be interrupted.
    Effect.callback<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>> | ApiError>((resume) => {
      if (stopped) return resume(Effect.interrupt)
      if ((mailboxes.get(id)?.waiting.length ?? 0) >= mostWaiting) return resume(Effect.fail(tooMany))
      let isAwaited = true
      const entry: Entry = {
        work: execute(caller, id, name, payload).pipe(
          Effect.onExit((exit) => {
            resume(exit)
            return isAwaited || Exit.isSuccess(exit) || !Cause.hasDies(exit.cause)
              ? Effect.void
              : Effect.logError(`The command ${type}.${name} of ${id} failed after its caller had left`, exit.cause)
          }),
          Effect.ignoreCause
        ),
        stop: () => resume(Effect.interrupt)
      }
      enter(id, entry, context)
      return Effect.sync(() => {
        isAwaited = false
        leave(id, entry)
      })
    })

  const send = <Name extends Rpcs["_tag"]>(
    id: Id,
    name: Name,
    payload: Rpc.Payload<Named<Rpcs, Name>>
  ): Effect.Effect<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>> | ApiError> =>
    Effect.contextWith((caller: Context.Context<never>) =>
      behavior === undefined
        ? Effect.andThen(
            Deferred.await(opened),
            Effect.suspend(() => send(id, name, payload))
          )
        : ask(behavior, caller, id, name, payload)
    ).pipe(outsideTransaction(`A command to the ${type} ${id}`))

  const layers: Mailboxes<Id, Rpcs> = {
    open: (behaves) =>
      Effect.suspend(() => {
        behavior = behaves
        stopped = false
        return Effect.asVoid(Deferred.succeed(opened, undefined))
      }),
    stop: Effect.suspend(() => {
      stopped = true
      const all = [...mailboxes.values()]
      for (const { waiting } of all) for (const { stop } of waiting.splice(0)) stop()
      return Effect.andThen(
        Fiber.interruptAll(all.flatMap(({ fiber }) => fiber ?? [])),
        Effect.sync(() => {
          for (const { current } of all) current?.stop()
          mailboxes.clear()
        })
      )
    }),
    busy: Effect.sync(() => mailboxes.size)
  }
  return { client: clientOf<Id, Rpcs>(commands, send), mailboxes: layers }
}

/** Creates the client and mailboxes of one kind of actor. */
export const mailboxesOf = <Type extends string, Id extends string, Rpcs extends Rpc.Any>(
  commands: Commands<Type, Id, Rpcs>
) =>
  Layer.effectContext(
    Effect.sync(() => {
      const { client, mailboxes } = makeMailboxes(commands)
      return Context.make(commands, client).pipe(Context.add(mailboxesKey(commands), mailboxes))
    })
  )

/**
 * Serves one kind of actor. The services that the handlers require are inferred, and come from this layer. Closing the layer
 * interrupts running commands, waits until they are rolled back, and notifies every waiting caller.
 */
export const serve = <
  Type extends string,
  Id extends string,
  Rpcs extends Rpc.Any,
  Needs extends { readonly [Name in Rpcs["_tag"]]: unknown }
>(
  commands: Commands<Type, Id, Rpcs>,
  handlers: Handlers<Id, Rpcs, Needs>
): Layer.Layer<never, never, MailboxesOf<Type> | Needs[keyof Needs]> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const mailboxes = yield* mailboxesKey(commands)
      const context = yield* Effect.context<Needs[keyof Needs]>()
      const execute = <Name extends Rpcs["_tag"]>(
        caller: Context.Context<never>,
        id: Id,
        name: Name,
        payload: Rpc.Payload<Named<Rpcs, Name>>
      ) => {
        const execution = Effect.suspend(() => handlers[name](id, payload))
        const spanned = Effect.withSpan(
          `${commands.type}.${name}`,
          { attributes: { "actor.id": id } },
          { captureStackTrace: false }
        )
        const whole = Effect.flatMap(References.TracerEnabled, (isTraced) =>
          isTraced ? spanned(execution) : execution
        )
        return asActor<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>>, Needs[Name]>(
          whole,
          context,
          caller
        )
      }
      yield* Effect.acquireRelease(mailboxes.open({ execute, context }), () => mailboxes.stop)
    })
  )
