import { ConfigProvider, Effect } from "effect"
import { agentEnv } from "./AgentVariables.ts"
import { clientEnv } from "./ClientSettings.ts"
import { editDistance } from "./EditDistance.ts"
import { settingDefinitions, settingsFileEnv } from "./SettingDefinitions.ts"

/** An unknown environment variable, and the setting that it resembles. */
export interface MisspeltSetting {
  readonly given: string
  readonly meant: string
}

const prefix = "SVC_"
const known: ReadonlyArray<string> = [
  ...Object.values(settingDefinitions).map(({ env }) => env),
  ...Object.values(clientEnv),
  ...Object.values(agentEnv),
  settingsFileEnv
]

const tolerated = (name: string) => (name.length < 5 ? 1 : name.length < 10 ? 2 : 3)

/** Returns the setting that `given` resembles, or `undefined` for a known setting and for variables of other programs. */
export const likelySetting = (given: string): string | undefined => {
  if (!given.startsWith(prefix) || known.includes(given)) return undefined
  const stem = given.slice(prefix.length)
  const [nearest] = known
    .map((name) => ({ name, steps: editDistance(stem, name.slice(prefix.length)) }))
    .filter(({ name, steps }) => steps <= tolerated(name.slice(prefix.length)))
    .sort((left, right) => left.steps - right.steps)
  return nearest?.name
}

/** Lists the names below `path` that have a value. Skips arrays, because they are not settings. */
const namesBelow = (
  provider: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, ConfigProvider.SourceError> =>
  Effect.gen(function* () {
    const node = yield* provider.load(path)
    const own = node?.value === undefined ? [] : [path.join("_")]
    if (node?._tag !== "Record") return own
    const below = yield* Effect.forEach([...node.keys], (key) => namesBelow(provider, [...path, key]))
    return [...own, ...below.flat()]
  })

/**
 * Finds environment variables that look like misspelt settings. Other unknown variables are accepted, because orchestrators set
 * names such as SVC_SERVICE_HOST for a service called svc.
 */
export const misspeltSettings: Effect.Effect<ReadonlyArray<MisspeltSetting>> = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  const names = yield* Effect.orElseSucceed(namesBelow(provider, ["SVC"]), () => [])
  return names.flatMap((given) => {
    const meant = likelySetting(given)
    return meant === undefined ? [] : [{ given, meant }]
  })
})

/** Describes a misspelt setting. The message never contains the value. */
export const describeMisspelt = ({ given, meant }: MisspeltSetting): string =>
  `${given} is no setting and has no effect. ${meant} is one.`
