import { readFile } from "node:fs/promises"
import { isAbsolute } from "node:path"
import { Config, Effect, Layer, Option, Redacted, Schema } from "effect"
import { credentialFileNameProblem, longestCredentialFile } from "../../runner/execution/CredentialFileName.ts"
import { providedNameProblem } from "../../runner/execution/EnvironmentNames.ts"
import { NotProvided, ProvidedCredentials, type ProvidedSet } from "../../runner/execution/ProvidedCredentials.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import { hidingProblem } from "../../runner/redaction/SecretRule.ts"
import { ProvidedName } from "../../schema/agent/ProvidedName.ts"
import { closed } from "../../schema/events/RunEvent.ts"
import { agentEnv } from "../settings/AgentVariables.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { storedAgent } from "../../runner/agent/AgentFolder.ts"
import { sha256 } from "../../runner/execution/Digest.ts"
import { identityOf, providedMark } from "../../runner/execution/ProvidedBinding.ts"

/**
 * Marks that identify the contents of an enrolled agent's own credentials. Computing a mark is slow, so the mark is cached
 * until its set of credentials changes.
 * - `marked`: the set and its mark
 * - `last`: the mark of the set as last read; it may be incomplete while the set's files are being replaced
 */
const makeMarks = (folder: string) => {
  const known = new Map<string, { readonly of: string; readonly mark: string }>()
  const marked = Effect.fnUntraced(function* (name: string, set: ProvidedSet): Effect.fn.Return<ProvidedSet> {
    const identity = yield* Effect.orElseSucceed(storedAgent(folder).identity, () => Option.none())
    if (Option.isNone(identity)) return set
    const place = [identity.value.installationId, identity.value.pool]
    const of = sha256(JSON.stringify([place, identityOf(set)]))
    const earlier = known.get(name)
    if (earlier?.of === of) return { ...set, mark: earlier.mark }
    const mark = yield* providedMark(name, set, place)
    // Do not replace the mark of a newer set of credentials.
    if (known.get(name) === earlier) known.set(name, { of, mark })
    return { ...set, mark }
  })
  return { marked, last: (name: string) => known.get(name)?.mark }
}

/** Source of a value: a file, or a variable in the agent's environment. */
const Place = Schema.Union([Schema.Struct({ file: Schema.String }), Schema.Struct({ variable: Schema.String })])
type Place = typeof Place.Type

/** A label. It must be short, so that nobody enters a value by mistake. */
const Label = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/))

/**
 * The agent's own credentials, keyed by the names that Connections use. The file refers to the sources of the values and
 * contains no values.
 *
 * - `env`: the source of each environment variable's value
 * - `files`: files that the provider reads; `envName` receives the path of the Run's copy
 * - `label`: represents the values, so a plan stays applicable while the label is unchanged
 * - `withoutIsolation`: allows the use of the credentials in pools whose modules run without isolation and could therefore
 *   read them
 * - `publicNames`: variables, and members of JSON documents, whose values are not secret and may appear in a plan
 */
const OwnSets = Schema.Record(
  ProvidedName,
  Schema.Struct({
    env: Schema.optionalKey(Schema.Record(Schema.String, Place)),
    files: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({ name: Schema.String, path: Schema.String, envName: Schema.optionalKey(Schema.String) })
      )
    ),
    label: Schema.optionalKey(Label),
    publicNames: Schema.optionalKey(Schema.Array(Schema.String)),
    withoutIsolation: Schema.optionalKey(Schema.Boolean)
  })
)
type OwnSet = (typeof OwnSets.Type)[string]

const decodeSets = Schema.decodeUnknownEffect(Schema.fromJsonString(OwnSets), closed)
const mostSets = 64

const refused = (path: string, message: string) =>
  new SettingsRefused({ message: `${agentEnv.credentials} (${path}) is not valid. ${message}` })

/**
 * Returns the reason why a set of credentials can never be delivered to a Run, regardless of its values, or `undefined` if
 * it can be delivered.
 */
const setProblem = (name: string, { env = {}, files = [] }: OwnSet): string | undefined => {
  const variables = [...Object.keys(env), ...files.flatMap(({ envName }) => envName ?? [])]
  if (variables.length + files.length === 0) return `${name}: contains no variable and no file.`
  if (new Set(variables).size < variables.length) return `${name}: a variable is named twice.`
  if (new Set(files.map((file) => file.name)).size < files.length) return `${name}: a file is named twice.`
  for (const variable of variables) {
    const problem = providedNameProblem(variable)
    if (problem !== undefined) return `${name}: ${variable} ${problem}.`
  }
  for (const [variable, place] of Object.entries(env)) {
    if ("file" in place && !isAbsolute(place.file)) return `${name}: the file of ${variable} is not an absolute path.`
  }
  for (const file of files) {
    const problem = credentialFileNameProblem(file.name)
    if (problem !== undefined) return `${name}: the file name ${JSON.stringify(file.name)} ${problem}.`
    if (!isAbsolute(file.path)) return `${name}: the path of ${file.name} is not absolute.`
  }
  return undefined
}

const unusable = (name: string, what: string, why: string) =>
  new NotProvided({ message: `The credentials ${name} of this agent cannot be used: ${what} ${why}.` })

/** Reads a file. Hides the original error message, because the message describes the machine instead of the Run. */
const contents = (name: string, what: string, path: string) =>
  Effect.tryPromise({
    try: () => readFile(path),
    catch: () => unusable(name, what, "cannot be read")
  }).pipe(
    Effect.filterOrFail(
      ({ length }) => length > 0 && length <= longestCredentialFile,
      () => unusable(name, what, `must hold 1 to ${longestCredentialFile} bytes`)
    ),
    Effect.map((bytes) => new Uint8Array(bytes))
  )

const checked = (name: string, what: string, text: string) => {
  const problem = text === "" ? "is empty" : hidingProblem(text)
  return problem === undefined ? Effect.succeed(text) : Effect.fail(unusable(name, what, problem))
}

/** Reads a value. Removes the line break at the end of a file, which is not part of the value. */
const valueAt = (name: string, variable: string, place: Place) =>
  "file" in place
    ? Effect.map(contents(name, variable, place.file), (bytes) => new TextDecoder().decode(bytes).replace(/\r?\n$/, ""))
    : Effect.suspend(() => Effect.succeed(process.env[place.variable] ?? ""))

const readSet = Effect.fnUntraced(function* (
  name: string,
  { env = {}, files = [], label, publicNames = [] }: OwnSet
): Effect.fn.Return<ProvidedSet, NotProvided> {
  const values: Record<string, Redacted.Redacted<string>> = {}
  for (const [variable, place] of Object.entries(env)) {
    const text = yield* valueAt(name, variable, place)
    values[variable] = Redacted.make(yield* checked(name, variable, text))
  }
  const read = yield* Effect.forEach(files, (file) =>
    Effect.gen(function* () {
      const content = yield* contents(name, file.name, file.path)
      yield* checked(name, file.name, new TextDecoder().decode(content))
      return { name: file.name, content: Redacted.make(content), envName: file.envName }
    })
  )
  return { values, files: read, label, publicNames }
})

/** Reads the credentials declared in the file. Returns no credentials if there is no file. */
const ownSets = Effect.gen(function* () {
  const path = yield* Config.option(Config.NonEmptyString(agentEnv.credentials)).pipe(
    Effect.mapError(({ message }) => new SettingsRefused({ message }))
  )
  if (Option.isNone(path)) return {}
  const text = yield* Effect.tryPromise({
    try: () => readFile(path.value, "utf8"),
    catch: () => refused(path.value, "The file cannot be read.")
  })
  // Drop the decoder's own message, which could quote a value from the file.
  const sets = yield* decodeSets(text).pipe(
    Effect.mapError(() =>
      refused(
        path.value,
        'It has to be JSON such as {"cloud": {"env": {"CLOUD_TOKEN": {"file": "/run/secrets/token"}}}}, and holds no values itself.'
      )
    )
  )
  if (Object.keys(sets).length > mostSets) return yield* refused(path.value, `It names more than ${mostSets} sets.`)
  for (const [name, set] of Object.entries(sets)) {
    const problem = setProblem(name, set)
    if (problem !== undefined) return yield* refused(path.value, problem)
  }
  return sets
})

/**
 * Provides the credentials of the agent in this folder, as declared by its operator. Reads the declaration once, and the values
 * for each Run.
 */
export const ownCredentials = (folder: string) =>
  Layer.effect(
    ProvidedCredentials,
    Effect.suspend(() => provided(folder))
  )

const provided = Effect.fnUntraced(function* (folder: string) {
  const sets = yield* ownSets
  const { last, marked } = makeMarks(folder)
  const { level } = (yield* Sandbox).status
  const find = (name: string) => Object.entries(sets).find(([known]) => known === name)?.[1]
  const read = (name: string) => {
    const set = find(name)
    if (set === undefined) return Effect.fail(new NotProvided({ message: `This agent has no credentials ${name}.` }))
    // If Runs are not isolated, require the operator's consent, because any module of any Workspace could read the files and
    // the agent's environment.
    return level === "process" && set.withoutIsolation !== true
      ? Effect.fail(unusable(name, "modules", "run without isolation here, and could read them for every Workspace"))
      : Effect.flatMap(readSet(name, set), (found) => marked(name, found))
  }
  return {
    described: Effect.succeed(Object.keys(sets)),
    names: Effect.filter(Object.keys(sets), (name) =>
      Effect.match(read(name), { onSuccess: () => true, onFailure: () => false })
    ),
    marks: Effect.map(
      Effect.forEach(Object.keys(sets), (name) =>
        Effect.match(read(name), {
          onSuccess: ({ mark }) => ({ name, mark }),
          onFailure: () => ({ name, mark: last(name) })
        })
      ),
      (all) => all.flatMap(({ mark, name }) => (mark === undefined ? [] : [{ name, mark }]))
    ),
    read
  }
})
