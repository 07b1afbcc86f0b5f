import { Cause, Console, Effect, Exit, FileSystem, Layer, Queue, Runtime, Schema, Scope } from "effect"
import { Vault } from "../../actors/base/vault/Vault.ts"
import { ScheduledBackups } from "../../src/backup/ScheduledBackups.ts"
import { boundOf, loadSince, logBound, notLevel } from "./YearBound.ts"
import { faultsOf, unnamedArchives } from "./YearChecks.ts"
import type { YearClock } from "./YearClock.ts"
import { morning, rollbackPlanned } from "./YearDay.ts"
import { driftFaults, startedSince } from "./YearDrift.ts"
import { figuresOf, type MonthFigures } from "./YearFigures.ts"
import { previewFaults } from "./YearPreviews.ts"
import { yearProduct, type YearPlace } from "./YearProduct.ts"
import { quiet } from "./YearQuiet.ts"
import type { YearSize } from "./YearSize.ts"
import { monthRow, tableHead } from "./YearTable.ts"
import { repositories, settle, type YearWorkspace } from "./YearWorld.ts"

class YearFailed extends Schema.TaggedError<YearFailed>()("YearFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const iso = (millis: number) => new Date(millis).toISOString()

/** Runs one turn of the background work, including all work that it starts. */
const turn = Effect.fnUntraced(function* ({ size, time, turns }: YearPlace) {
  const before = yield* startedSince(iso(time.millis()))
  yield* Effect.callback<void>((resume) => {
    Queue.offerUnsafe(turns, () => resume(Effect.void))
  })
  const started = (yield* startedSince(iso(time.millis()))) - before
  yield* quiet(time)
  yield* (yield* ScheduledBackups).turn
  return started > 5 * size.workspaces ? [`${started} drift checks began in one minute`] : []
})

/** Sets a wrong date for one turn and then corrects the date. Work must not be delayed until the wrong date. */
const wrongDate = Effect.fnUntraced(function* (place: YearPlace) {
  yield* place.time.correct("3 days", "forward")
  const faults = yield* turn(place)
  yield* place.time.correct("3 days", "backward")
  return faults
})

/** Performs the special events of a month, which follow the restart at the end of the previous month. */
const special = Effect.fnUntraced(function* (place: YearPlace, month: number, months: number) {
  if (month === Math.floor(months / 2)) {
    yield* (yield* Vault).rotateMasterKey({ forgetRetired: false })
    place.tool.version = "1.1.0"
  }
  return month === 1 ? yield* wrongDate(place) : []
})

/** Simulates one month. Returns its faults and figures. */
const monthOf = Effect.fnUntraced(function* (
  place: YearPlace,
  workspaces: ReadonlyArray<YearWorkspace>,
  month: number,
  months: number
) {
  const { size, time } = place
  const faults = [...(yield* special(place, month, months))]
  const since = iso(time.millis())
  let unnamed: ReadonlyArray<string> = []
  for (let day = month * size.month; day < (month + 1) * size.month; day++) {
    faults.push(...(yield* morning(size, time, workspaces, day)))
    for (let hour = 0; hour < 24; hour += size.turnHours) {
      yield* time.pass(`${size.turnHours} hours`)
      faults.push(...(yield* turn(place)))
    }
    // The service deletes archives of removed records within two days.
    if (day === (month + 1) * size.month - 4) unnamed = yield* unnamedArchives(place.dataDir)
  }
  for (const workspace of workspaces) faults.push(...(yield* rollbackPlanned(time, workspace)))
  const left = yield* unnamedArchives(place.dataDir)
  for (const archive of unnamed.filter((file) => left.includes(file))) faults.push(`${archive} belongs to nothing`)
  faults.push(...(yield* faultsOf()), ...(yield* driftFaults(time.millis(), month)))
  faults.push(...(yield* previewFaults(time.millis(), size.keep)))
  const figures = yield* figuresOf(month + 1, place.dataDir, place.backups)
  const bound = boundOf(yield* loadSince(since, size.month), size)
  if (figures.database > bound) faults.push(`the database has ${figures.database} bytes, and the bound is ${bound}`)
  if (figures.log > logBound) faults.push(`the write-ahead log has ${figures.log} bytes`)
  yield* Console.log(monthRow(figures, bound))
  return { faults: faults.map((fault) => `month ${month + 1}: ${fault}`), figures }
})

/** Stops the service as an operator would. While the service waits for its grace periods, time advances by these periods. */
const stopped = Effect.fnUntraced(function* (time: YearClock, scope: Scope.Closeable) {
  const passing = yield* Effect.forkChild(Effect.forever(time.pass("1 second")))
  yield* Scope.close(scope, Exit.void)
  passing.interruptUnsafe()
})

export const liveThroughYear = Effect.fn("liveThroughYear")(function* (
  size: YearSize,
  folder: string,
  time: YearClock
) {
  const files = yield* FileSystem.FileSystem
  const served = yield* repositories(size, `${folder}/git`)
  const place: YearPlace = {
    dataDir: `${folder}/data`,
    backups: `${folder}/backups`,
    origins: served.map(({ origin }) => origin),
    size,
    time,
    turns: yield* Queue.unbounded<() => void>(),
    tool: { version: "1.0.0" }
  }
  yield* files.makeDirectory(place.backups)
  const months = Math.floor(size.days / size.month)
  const faults: Array<string> = []
  const all: Array<MonthFigures> = []
  let workspaces: ReadonlyArray<YearWorkspace> | undefined
  yield* Console.log(tableHead)
  for (let month = 0; month < months; month++) {
    const life = Effect.gen(function* () {
      workspaces ??= yield* settle(size, time, served)
      return yield* monthOf(place, workspaces, month, months)
    })
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(yearProduct(place), scope)
    const lived = yield* Effect.exit(Effect.provide(life, services))
    yield* stopped(time, scope)
    if (Exit.isFailure(lived)) {
      faults.push(`month ${month + 1}: ${Cause.pretty(lived.cause)}`)
      break
    }
    faults.push(...lived.value.faults)
    all.push(lived.value.figures)
  }
  const [first, last] = [all[size.levelFrom - 1], all.at(-1)]
  if (first !== undefined && last !== undefined) faults.push(...notLevel(first, last))
  if (faults.length > 0) return yield* new YearFailed({ message: faults.join("\n") })
  yield* Console.log(`${size.days} days: nothing was lost, and nothing grew from month ${size.levelFrom} on.`)
})
