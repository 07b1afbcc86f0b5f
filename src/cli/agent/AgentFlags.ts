import { Config, Effect, FileSystem, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { tokenInput } from "../TokenInput.ts"
import { CommandFailed, misuse } from "../Output.ts"
import { agentEnv } from "../../settings/AgentVariables.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

export const serverFlag = text(
  "server",
  "url",
  "Origin of the server, e.g. https://svc.example.com; default: SVC_AGENT_SERVER"
)

export const dirFlag = text(
  "dir",
  "folder",
  "Folder for keys, tools and Runs; on a local disk, created with mode 0700; default: SVC_AGENT_DIR, or ./svc-agent"
)

/** Returns the value of the flag or, if it is absent, the value of its environment variable. */
export const givenOr = (flag: Option.Option<string>, variable: string) =>
  Option.match(flag, {
    onSome: (value) => Effect.succeedSome(value),
    onNone: () => Config.option(Config.NonEmptyString(variable))
  })

const defaultDir = "./svc-agent"

export const folderOf = (flag: Option.Option<string>) =>
  Effect.map(
    givenOr(flag, agentEnv.dir),
    Option.getOrElse(() => defaultDir)
  )

/**
 * Returns the server's address. Refuses plain HTTP across the network, because the agent pins the server's keys at the first
 * contact.
 */
export const serverOf = Effect.fnUntraced(function* (flag: Option.Option<string>) {
  const given = yield* givenOr(flag, agentEnv.server)
  if (Option.isNone(given)) {
    return yield* new CommandFailed({
      ...misuse,
      message: "Say which server: --server https://svc.example.com, or SVC_AGENT_SERVER."
    })
  }
  const url = URL.canParse(given.value) ? new URL(given.value) : undefined
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.origin === given.value.replace(/\/$/, "")
  if (!isOrigin) {
    return yield* new CommandFailed({
      ...misuse,
      message: "The server is an origin such as https://svc.example.com, without a path."
    })
  }
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  if (url.protocol === "http:" && !isLoopback) {
    return yield* new CommandFailed({
      ...misuse,
      message:
        "The server has to be reached by https: an agent trusts what it is sent. Plain http is for this machine only."
    })
  }
  return url.origin
})

/**
 * Reads the enrolment token from a file or the environment. The token is never passed as an argument, because every process
 * on the machine can read arguments. Reads the token only on demand, so an enrolled agent works without the file.
 */
export const tokenOf = Effect.fnUntraced(function* (file: Option.Option<string>) {
  const files = yield* FileSystem.FileSystem
  const given = yield* Config.option(Config.Redacted(agentEnv.token))
  if (Option.isNone(file)) {
    return Option.isNone(given)
      ? Effect.succeedNone
      : Effect.asSome(tokenInput(agentEnv.token, Redacted.value(given.value)))
  }
  return files.readFileString(file.value).pipe(
    Effect.mapError(({ message }) => new CommandFailed({ ...misuse, message: `The token cannot be read. ${message}` })),
    Effect.flatMap((content) => Effect.asSome(tokenInput(file.value, content)))
  )
})

const pairsOf = (text: string) => text.split(",").filter((pair) => pair.trim() !== "")

/** Returns the labels from the repeated flags or, if there are none, from the comma-separated variable. */
export const labelsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const variable = yield* Config.option(Config.NonEmptyString(agentEnv.labels))
  const pairs = given.length > 0 ? given : Option.match(variable, { onNone: () => [], onSome: pairsOf })
  const labels: Record<string, string> = {}
  for (const pair of pairs) {
    const at = pair.indexOf("=")
    if (at < 1) {
      return yield* new CommandFailed({
        ...misuse,
        message: `A label is given as key=value, not ${JSON.stringify(pair)}.`
      })
    }
    labels[pair.slice(0, at).trim()] = pair.slice(at + 1).trim()
  }
  return labels
})

const usualPlaces = 2
const mostPlaces = 256

export const placesOf = Effect.fnUntraced(function* (flag: Option.Option<number>) {
  const variable = yield* Config.option(Config.Int(agentEnv.places)).pipe(
    Effect.mapError(
      () => new CommandFailed({ ...misuse, message: `${agentEnv.places} is a number from 1 to ${mostPlaces}.` })
    )
  )
  const places = Option.getOrElse(
    Option.orElse(flag, () => variable),
    () => usualPlaces
  )
  return places >= 1 && places <= mostPlaces
    ? places
    : yield* new CommandFailed({ ...misuse, message: `--places is a number from 1 to ${mostPlaces}.` })
})
