import type { Language } from "../preferences/Preferences.ts"
import { normaliseProviderAddress } from "../../../schema/records/NormaliseProviderAddress.ts"

const locale: Readonly<Record<Language, string>> = { en: "en-GB", ja: "ja-JP" }

const units: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["hour", 3_600],
  ["minute", 60]
]

const daySeconds = 86_400

/** Number of calendar days from `now` to `at` in the person's time zone. "Yesterday" is a date, and not 24 hours ago. */
const calendarDays = (at: number, now: number): number => {
  const noon = (time: number) => new Date(time).setHours(12, 0, 0, 0)
  // Round the result, because a day on which the clocks change has 23 or 25 hours.
  return Math.round((noon(at) - noon(now)) / (daySeconds * 1000))
}

/** "3 min ago" / 「3 分前」. Returns "Just now" within a minute, and counts calendar days from one day to a week. */
export const relativeTime = (language: Language, at: string, now: number): string => {
  const time = Date.parse(at)
  const seconds = Math.round((time - now) / 1000)
  const format = (numeric: "always" | "auto") =>
    new Intl.RelativeTimeFormat(locale[language], { numeric, style: "short" })
  const elapsed = Math.abs(seconds)
  if (elapsed >= daySeconds && elapsed < 7 * daySeconds) return format("auto").format(calendarDays(time, now), "day")
  for (const [unit, size] of units) {
    if (elapsed >= size) return format("always").format(Math.trunc(seconds / size), unit)
  }
  return language === "ja" ? "たった今" : "just now"
}

const exact: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: new Intl.DateTimeFormat(locale.en, { dateStyle: "medium", timeStyle: "long" }),
  ja: new Intl.DateTimeFormat(locale.ja, { dateStyle: "medium", timeStyle: "long" })
}

/** Includes the time zone, because people in several zones read the same page. */
export const exactTime = (language: Language, at: string): string => exact[language].format(new Date(at))

export const calendarDate = (language: Language, at: string): string =>
  new Intl.DateTimeFormat(locale[language], { dateStyle: "medium" }).format(new Date(at))

export const clockTime = (at: string): string => new Date(at).toLocaleTimeString("en-GB", { hour12: false })

/** Formats milliseconds as `840 ms`, `12 s`, `3 min 05 s` or `1 h 02 min`. */
export const duration = (language: Language, ms: number): string => {
  const [msUnit, s, min, h] = language === "ja" ? ["ミリ秒", "秒", "分", "時間"] : ["ms", "s", "min", "h"]
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ${msUnit}`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${ms < 10_000 ? (ms / 1000).toFixed(1) : seconds} ${s}`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} ${min} ${String(seconds % 60).padStart(2, "0")} ${s}`
  return `${Math.floor(seconds / 3600)} ${h} ${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")} ${min}`
}

export const integer = (language: Language, value: number): string =>
  new Intl.NumberFormat(locale[language]).format(value)

const englishPlural = new Intl.PluralRules("en")

/**
 * A number with its English noun, such as "1 file" or "1,204 files". Japanese nouns have only one form, so Japanese texts
 * need only the number.
 */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${integer("en", count)} ${englishPlural.select(count) === "one" ? one : several}`

/** Formats bytes in binary units: `812 B`, `4.2 KiB`, `1.5 MiB`. */
export const bytes = (value: number): string => {
  const names = ["B", "KiB", "MiB", "GiB"]
  let size = value
  let unit = 0
  while (size >= 1024 && unit < names.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${names[unit]}`
}

export const shortCommit = (commit: string): string => commit.slice(0, 8)

export const shortDigest = (digest: string): string => {
  const at = digest.indexOf(":")
  return at < 0 ? digest.slice(0, 12) : digest.slice(at + 1, at + 13)
}

/** Shortens `registry.opentofu.org/hashicorp/aws` to `hashicorp/aws`. The host of any other registry is kept. */
export const providerName = normaliseProviderAddress

/** The distinguishing part of a Git address. */
export const repositoryName = (url: string): string => {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\.git$/, "")}`
}

/** Returns a URL for `https:` addresses only. Everything else is shown as text. */
export const httpsLink = (value: unknown): string | undefined => {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined
  const url = new URL(value)
  return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined
}
