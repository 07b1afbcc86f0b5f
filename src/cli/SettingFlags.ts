import { Effect, Option, Record } from "effect"
import { Flag } from "effect/cli"
import type { SettingDefinition } from "../settings/SettingDefinition.ts"
import { settingDefinitions } from "../settings/SettingDefinitions.ts"
import { type GivenFlags, loadSettings } from "../settings/Settings.ts"

const describe = (definition: SettingDefinition) => {
  const fallback = definition.default === undefined || definition.default === "" ? "none" : definition.default
  return `${definition.description} [${definition.env}; default ${fallback}]`
}

const definitions: Readonly<Record<keyof typeof settingDefinitions, SettingDefinition>> = settingDefinitions

/** One flag per setting. Its help shows the setting's variable and default. Secret settings have no flag. */
export const settingFlags = Record.map(definitions, (definition) =>
  definition.flag === undefined
    ? Flag.optional(Flag.Never)
    : Flag.optional(
        Flag.String(definition.flag).pipe(
          Flag.withDescription(describe(definition)),
          Flag.withMetavar(definition.metavar)
        )
      )
)

/**
 * The flags of all settings, for use in a command's configuration. Omits settings without a flag, because their `Flag.Never`
 * placeholders would clash.
 */
export const everySettingFlag: Readonly<Record<string, Flag.Flag<Option.Option<string>>>> = Record.filter(
  settingFlags,
  (_, name) => Object.entries(definitions).some(([known, { flag }]) => known === name && flag !== undefined)
)

export const configFlag = Flag.optional(
  Flag.String("config").pipe(
    Flag.withDescription(
      "Settings file: one JSON object with one key per setting, e.g. dataDir [SVC_CONFIG; default none]"
    ),
    Flag.withMetavar("file")
  )
)

/** Reads the settings from the command's flags, the environment and the settings file. */
export const settingsOf = Effect.fn("settingsOf")(function* (
  flags: Partial<Readonly<Record<string, Option.Option<string>>>>,
  config: Option.Option<string>
) {
  const given: GivenFlags = new Map(
    Object.entries(flags).flatMap(([name, flag]) =>
      flag !== undefined && Option.isSome(flag) ? [[name, flag.value] as const] : []
    )
  )
  return yield* loadSettings(given, config)
})

/** Flags of commands that only need the location of the data. */
export const dataFlags = {
  dataDir: settingFlags.dataDir,
  masterKeyFile: settingFlags.masterKeyFile,
  masterKeyCommand: settingFlags.masterKeyCommand,
  config: configFlag
}
