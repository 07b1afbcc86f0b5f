import { expect, test } from "bun:test"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Logger, References, Schema, Scope } from "effect"
import { Rpc } from "effect/rpc"
import { mailboxesKey, mailboxesOf, serve } from "../../actors/Actor.ts"
import { commandsOf } from "../../schema/commands/Command.ts"
import { ApiError, notFound } from "../../schema/errors/ApiError.ts"

/** Outcome of a command after its `steps`. */
const End = Schema.Literals(["succeed", "fail", "die", "wait"])
type End = typeof End.Type

const Workers = commandsOf(
  "Worker",
  Schema.String,
  Rpc.make("Work", {
    payload: { command: Schema.Int, steps: Schema.Int, end: End },
    success: Schema.Int,
    error: ApiError
  })
)

interface Command {
  readonly command: number
  readonly record: string
  readonly steps: number
  readonly end: End
  /** Number of steps that the caller takes before it is interrupted. `undefined` if the caller waits for the response. */
  readonly leavesAfter: number | undefined
}

/** Generates the same pseudorandom numbers for the same seed (mulberry32). */
const numbersOf = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const step = Effect.yieldNow
const steps = (count: number) => Effect.forEach(Array.from({ length: count }), () => step, { discard: true })

/** Sends each command from its own fiber and checks the actors' guarantees. */
const run = (commands: ReadonlyArray<Command>) => {
  /** Begin and end events of each record, in order. */
  const history = new Map<string, Array<readonly ["begin" | "end", number]>>()
  const note = (record: string, what: "begin" | "end", command: number) => {
    const known = history.get(record) ?? []
    known.push([what, command])
    history.set(record, known)
  }
  const gate = Deferred.makeUnsafe<void>()
  const actors = serve(Workers, {
    Work: (record, { command, end, steps: count }) =>
      Effect.gen(function* () {
        note(record, "begin", command)
        yield* steps(count)
        if (end === "wait") yield* Deferred.await(gate)
        if (end === "die") return yield* Effect.die(new Error(`defect ${command}`))
        if (end === "fail") return yield* notFound(`Command ${command}`)
        return command
      }).pipe(Effect.onExit(() => Effect.sync(() => note(record, "end", command))))
  })

  return Effect.gen(function* () {
    const workers = yield* Workers
    const { busy } = yield* mailboxesKey(Workers)
    const sent = yield* Effect.forEach(commands, ({ record, leavesAfter, ...payload }) =>
      Effect.gen(function* () {
        const caller = yield* Effect.forkChild(workers.Work(record, payload), { startImmediately: true })
        if (leavesAfter !== undefined) {
          yield* Effect.forkChild(Effect.andThen(steps(leavesAfter), Fiber.interrupt(caller)), {
            startImmediately: true
          })
        }
        return caller
      })
    )
    yield* steps(3)
    yield* Deferred.succeed(gate, undefined)
    const exits = yield* Fiber.awaitAll(sent)
    // Every record must still process one more command. A stuck record would not.
    for (const record of history.keys()) {
      expect(yield* workers.Work(record, { command: -1, steps: 0, end: "succeed" })).toBe(-1)
    }
    // Each mailbox must be removed within a few steps after its last response, so that idle records use no memory.
    for (let left = 100; left > 0 && (yield* busy) > 0; left--) yield* step
    expect(yield* busy).toBe(0)

    for (const [record, events] of history) {
      // Commands to the same record never overlap.
      expect(events.map(([what]) => what)).toEqual(events.map((_, index) => (index % 2 === 0 ? "begin" : "end")))
      const begun = events.flatMap(([what, command]) => (what === "begin" && command >= 0 ? [command] : []))
      const ended = events.flatMap(([what, command]) => (what === "end" && command >= 0 ? [command] : []))
      // Every command that began also ended. Commands ran in the order in which they were sent, and no command ran twice.
      expect(ended).toEqual(begun)
      expect(begun).toEqual([...new Set(begun)].toSorted((left, right) => left - right))
      // No command is lost: only a command whose caller was interrupted may be missing.
      const missing = commands.filter((each) => each.record === record && !begun.includes(each.command))
      expect(missing.filter(({ leavesAfter }) => leavesAfter === undefined)).toEqual([])
    }
    for (const [index, exit] of exits.entries()) {
      const command = commands[index]
      if (command === undefined) throw new Error("More answers than commands")
      const wasLeft = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      if (wasLeft) {
        expect(command.leavesAfter).toBeDefined()
        continue
      }
      // Every caller that was not interrupted receives the response to its command.
      const { end } = command
      if (Exit.isSuccess(exit))
        expect([end, exit.value]).toEqual([end === "wait" ? "wait" : "succeed", command.command])
      else expect(Cause.pretty(exit.cause)).toContain(end === "die" ? `defect ${command.command}` : "not found")
    }
    return history
  }).pipe(Effect.provide(actors.pipe(Layer.provideMerge(mailboxesOf(Workers)), Layer.provide(Logger.layer([])))))
}

const ends: ReadonlyArray<End> = ["succeed", "fail", "die", "wait"]

test("an actor keeps its guarantees under random commands, defects, slow handlers and interrupted callers", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const number = numbersOf(seed)
    const records = 1 + number(8)
    const commands = Array.from(
      { length: 60 },
      (_, command): Command => ({
        command,
        record: `record ${number(records)}`,
        steps: number(6),
        end: ends[number(ends.length)] ?? "succeed",
        leavesAfter: number(2) === 0 ? undefined : number(30)
      })
    )
    await Effect.runPromise(run(commands))
  }
})

test("an actor keeps its guarantees if a caller is interrupted at any step", async () => {
  const begun = new Set<boolean>()
  // Every operation of every fiber counts as a step, so the test can interrupt between any two operations.
  const dense = Effect.provideService(References.MaxOpsBeforeYield, 3)
  for (const ending of ends) {
    for (let leavesAfter = 0; leavesAfter < 40; leavesAfter++) {
      const command = (number: number, end: End, leaves: number | undefined): Command => ({
        command: number,
        record: "record",
        steps: 2,
        end,
        leavesAfter: leaves
      })
      const commands = [
        command(0, "succeed", undefined),
        command(1, ending, leavesAfter),
        command(2, "fail", undefined)
      ]
      const history = await Effect.runPromise(dense(run(commands)))
      begun.add((history.get("record") ?? []).some(([, number]) => number === 1))
    }
  }
  // Both outcomes must occur: some commands are dropped before their turn, and some run although their caller is
  // interrupted.
  expect([...begun].toSorted()).toEqual([false, true])
})

/** Sends the commands, stops the actors after some steps, and checks that every command that began also ended. */
const stopped = (commands: ReadonlyArray<Command>, stopsAfter: number) => {
  const history: Array<readonly ["begin" | "end", string, number]> = []
  const actors = serve(Workers, {
    Work: (record, { command, end, steps: count }) =>
      Effect.acquireUseRelease(
        Effect.sync(() => history.push(["begin", record, command])),
        () =>
          Effect.gen(function* () {
            yield* steps(count)
            // Only the stop ends this command.
            if (end === "wait") return yield* Effect.never
            if (end === "die") return yield* Effect.die(new Error(`defect ${command}`))
            if (end === "fail") return yield* notFound(`Command ${command}`)
            return command
          }),
        // A rollback takes steps, too, and the stop waits for them.
        () =>
          Effect.andThen(
            steps(2),
            Effect.sync(() => void history.push(["end", record, command]))
          )
      )
  })
  return Effect.gen(function* () {
    const workers = yield* Workers
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(actors, scope)
    const sent = yield* Effect.forEach(commands, ({ command, end, record, steps: count }) =>
      Effect.forkChild(workers.Work(record, { command, end, steps: count }), { startImmediately: true })
    )
    yield* steps(stopsAfter)
    yield* Scope.close(scope, Exit.void)
    const whenStopped = history.length
    // No caller waits for ever, although the actors serve nothing any more.
    const exits = yield* Fiber.awaitAll(sent)
    const late = yield* Effect.exit(workers.Work("late", { command: -1, steps: 0, end: "succeed" }))
    yield* steps(20)
    expect(Exit.isFailure(late)).toBe(true)
    expect(history.slice(whenStopped)).toEqual([])
    const of = (what: "begin" | "end") =>
      history.flatMap(([found, , command]) => (found === what ? [command] : [])).toSorted((a, b) => a - b)
    expect(of("end")).toEqual(of("begin"))
    for (const [index, exit] of exits.entries()) {
      const command = commands[index]
      if (Exit.isSuccess(exit)) expect([command?.end, exit.value]).toEqual(["succeed", index])
    }
    return { begun: of("begin").length, answered: exits.filter(Exit.isSuccess).length }
  }).pipe(Effect.provide(Layer.merge(mailboxesOf(Workers), Logger.layer([]))))
}

test("an actor that stops at any step answers every caller, ends what has begun and begins nothing else", async () => {
  const seen = new Set<string>()
  const dense = Effect.provideService(References.MaxOpsBeforeYield, 3)
  for (let seed = 1; seed <= 60; seed++) {
    const number = numbersOf(seed)
    const records = 1 + number(5)
    const commands = Array.from(
      { length: 30 },
      (_, command): Command => ({
        command,
        record: `record ${number(records)}`,
        steps: number(4),
        end: ends[number(ends.length)] ?? "succeed",
        leavesAfter: undefined
      })
    )
    const { answered, begun } = await Effect.runPromise(dense(stopped(commands, seed - 1)))
    if (begun < commands.length) seen.add("some commands wait")
    if (answered > 0) seen.add("some commands are answered")
  }
  // Both must occur: a stop with commands that wait, and a stop after some responses.
  expect([...seen].toSorted()).toEqual(["some commands are answered", "some commands wait"])
})
