import { type Brand, Effect } from "effect"
import { type SettingName, settingDefinitions } from "../settings/SettingDefinitions.ts"
import { type Settings, settingText } from "../settings/Settings.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

/** Settings that the host sets through other options, and therefore cannot set directly. */
type Decided = "baseUrl" | "dataDir" | "drainDelay" | "listen"

type HostValue<A> =
  A extends Brand.Brand<"Size">
    ? `${number}${"KiB" | "MiB" | "GiB" | "TiB"}`
    : A extends { readonly host: string; readonly port: number }
      ? `${string}:${number}`
      : A

/** Settings as a host provides them. Numbers, booleans, lists and secrets are typed, and sizes have a unit. */
export type HostSettings = {
  readonly [Name in Exclude<SettingName, Decided>]?: HostValue<NonNullable<Settings[Name]>>
}

const isName = (name: string): name is SettingName => Object.hasOwn(settingDefinitions, name)

const textOf = Effect.fnUntraced(function* ([name, value]: readonly [string, unknown]) {
  if (!isName(name)) return yield* new SettingsRefused({ message: `There is no setting ${name}.` })
  return [name, typeof value === "string" ? value : yield* settingText(name, value)] as const
})

/** Converts settings to the text form that a settings file uses. */
export const settingTexts = Effect.fn("settingTexts")(function* (settings: HostSettings) {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return new Map<string, string>(yield* Effect.forEach(given, textOf))
})
