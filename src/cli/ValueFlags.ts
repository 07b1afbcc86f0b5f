import { Clock, Duration, Effect } from "effect"
import { CliError, Flag } from "effect/cli"

/** Makes a flag optional and repeatable. */
export const anyNumber = <A>(flag: Flag.Flag<A>): Flag.Flag<ReadonlyArray<A>> =>
  Flag.withDefault(Flag.atLeast(flag, 0), [])

/** Defines a flag for an integer between `least` and `most`. */
export const intFlag = (name: string, least: number, most = Number.MAX_SAFE_INTEGER): Flag.Flag<number> =>
  Flag.Int(name).pipe(
    Flag.filter(
      (number) => number >= least && number <= most,
      () =>
        most === Number.MAX_SAFE_INTEGER ? `a whole number from ${least} on` : `a whole number from ${least} to ${most}`
    )
  )

const unitMillis = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 604_800_000]
])
const durationForm = /^([1-9][0-9]{0,4})([smhdw])$/
const timeForm = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Converts a duration such as `90s`, `30m`, `12h`, `7d` or `2w` to milliseconds. */
export const durationMillis = (text: string): number | undefined => {
  const [, count, unit = ""] = durationForm.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (unitMillis.get(unit) ?? 0)
}

/**
 * Converts a date (midnight UTC) or a time to milliseconds since the Unix epoch. Returns `undefined` if the date does not
 * exist.
 */
const timeMillis = (text: string): number | undefined => {
  const [, date = ""] = timeForm.exec(text) ?? []
  const midnight = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const timeFlag = (name: string, direction: 1 | -1, expected: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("time"),
    Flag.mapEffect((text) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const duration = durationMillis(text)
        const at = duration === undefined ? timeMillis(text) : now + direction * duration
        const isPast = direction === 1 && at !== undefined && at <= now
        return at === undefined || isPast
          ? Effect.fail(new CliError.InvalidValue({ option: name, value: text, expected, kind: "flag" }))
          : Effect.succeed(new Date(at).toISOString())
      })
    )
  )

/** Defines a flag for a time in the future: a date, a time, or a duration from now. */
export const comingTimeFlag = (name: string): Flag.Flag<string> =>
  timeFlag(
    name,
    1,
    "a time to come: how long from now, such as 12h or 30d, a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z"
  )

/** Defines a flag for a time in the past: a date, a time, or a duration before now. */
export const pastTimeFlag = (name: string): Flag.Flag<string> =>
  timeFlag(
    name,
    -1,
    "how long ago, such as 30m, 12h or 7d, a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z"
  )

/** Defines a flag for a duration. The value is in milliseconds, but the bounds are in seconds. */
export const durationFlag = (
  name: string,
  bounds?: { readonly minimum: number; readonly maximum: number }
): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("duration"),
    Flag.mapEffect((text) => {
      const millis = durationMillis(text)
      const expected =
        bounds === undefined
          ? "a duration such as 90s, 30m, 2h or 7d"
          : `a duration from ${Duration.format(Duration.seconds(bounds.minimum))} to ${Duration.format(Duration.seconds(bounds.maximum))}, such as 90s, 30m, 2h or 7d`
      const isOutside =
        bounds !== undefined &&
        millis !== undefined &&
        (millis < bounds.minimum * 1000 || millis > bounds.maximum * 1000)
      return millis === undefined || isOutside
        ? Effect.fail(new CliError.InvalidValue({ option: name, value: text, expected, kind: "flag" }))
        : Effect.succeed(millis)
    })
  )
