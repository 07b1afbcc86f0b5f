import { chmod, mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { Context, Effect, Layer, Option, Schedule, Schema, type Scope } from "effect"
import { AgentKeys } from "../../schema/agent/AgentIdentity.ts"
import { PoolName } from "../../schema/agent/PoolName.ts"
import { AgentId } from "../../schema/records/Ids.ts"
import { fileOperation, readOptional, removeTree, replaceDurably, type RunFileFailed } from "../execution/RunFiles.ts"
import { newKeys, type Signer, StoredKeys } from "./AgentKeyPair.ts"
import { takeFileLock } from "./FileLock.ts"

/**
 * Identity that the server returned when the agent enrolled. It pins the server's keys, so that no other server can
 * impersonate the agent's server.
 */
export const AgentIdentity = Schema.Struct({
  version: Schema.Literal(1),
  server: Schema.String,
  serverKeys: AgentKeys,
  installationId: Schema.String,
  agentId: AgentId,
  pool: PoolName
})
export type AgentIdentity = typeof AgentIdentity.Type

/** Maximum number of former keys to keep. No Run lasts so long that its keys are replaced this many times. */
const mostFormer = 16
/** Maximum number of replaced keys to keep. At the usual key lifetime, this is enough for more than two years. */
const mostReplaced = 32

const IdentityText = Schema.fromJsonString(AgentIdentity)
const KeysText = Schema.fromJsonString(StoredKeys)

/** The agent's folder cannot be used. */
export class AgentFolderUnusable extends Schema.TaggedError<AgentFolderUnusable>()("AgentFolderUnusable", {
  message: Schema.String
}) {}

const unusable = ({ message }: RunFileFailed) =>
  new AgentFolderUnusable({ message: `The agent's folder cannot be used. ${message}` })

const damaged = (what: string) =>
  new AgentFolderUnusable({
    message: `The file with the agent's ${what} cannot be read. Enrol again with another folder, once no Run is held in this one.`
  })

const stored = <A>(file: string, schema: Schema.Codec<A, string>, what: string) =>
  readOptional(file, `read the agent's ${what}`).pipe(
    Effect.mapError(unusable),
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeedNone,
        onSome: (bytes) =>
          Schema.decodeEffect(schema)(new TextDecoder().decode(bytes)).pipe(
            Effect.asSome,
            Effect.mapError(() => damaged(what))
          )
      })
    )
  )

const filesIn = (path: string) => ({
  identity: join(path, "agent.json"),
  keys: join(path, "keys.json"),
  nextKeys: join(path, "next-keys.json")
})

/** Reads an agent's folder without creating or changing anything. */
export const storedAgent = (path: string) => ({
  identity: stored(filesIn(path).identity, IdentityText, "identity"),
  keys: stored(filesIn(path).keys, KeysText, "keys"),
  nextKeys: stored(filesIn(path).nextKeys, KeysText, "next keys")
})

/**
 * The agent's files on disk, with mode 0700.
 *
 * - `identity`: `none` before the enrolment
 * - `keys`: created and stored on first use; read from disk every time, because another process of this agent may have replaced
 *   them
 * - `dateKeys`: records the given date for keys without one
 * - `nextKeys`: the keys that will replace the current ones, until the server has accepted them
 * - `prepareKeys`: creates next keys, unless they exist
 * - `dropNextKeys`: stops announcing the next keys
 * - `takeNextKeys`: makes the next keys the agent's keys; the previous keys only open messages sealed for them, until
 *   `forgetFormer`, and sign for a restored server that has no newer keys
 *
 * Up to two processes and a command may change the keys at the same time. Each change holds a lock, and `takeNextKeys` and
 * `dropNextKeys` do nothing if the next keys have changed in the meantime.
 *
 * - `forgetFormer`: call it only while no process of this agent holds a Run
 * - `lock`: waits a moment, because a command may hold the lock briefly to test it; returns `false` while another process takes
 *   jobs with this folder; a draining process releases the lock first
 */
export class AgentFolder extends Context.Service<
  AgentFolder,
  {
    readonly path: string
    readonly identity: Effect.Effect<Option.Option<AgentIdentity>, AgentFolderUnusable>
    readonly keepIdentity: (identity: AgentIdentity) => Effect.Effect<void, AgentFolderUnusable>
    readonly keys: Effect.Effect<StoredKeys, AgentFolderUnusable>
    readonly dateKeys: (at: string) => Effect.Effect<void, AgentFolderUnusable>
    readonly nextKeys: Effect.Effect<Option.Option<StoredKeys>, AgentFolderUnusable>
    readonly prepareKeys: Effect.Effect<StoredKeys, AgentFolderUnusable>
    readonly takeNextKeys: (next: StoredKeys) => Effect.Effect<void, AgentFolderUnusable>
    readonly dropNextKeys: (next: StoredKeys) => Effect.Effect<void, AgentFolderUnusable>
    readonly forgetFormer: Effect.Effect<void, AgentFolderUnusable>
    readonly lock: Effect.Effect<boolean, never, Scope.Scope>
    /** Folder of executions, each in a subfolder named after its Run and fence. */
    readonly runs: string
    readonly runNames: Effect.Effect<ReadonlyArray<string>, AgentFolderUnusable>
    /** Returns the path of a subfolder, which is created with mode 0700. */
    readonly subfolder: (name: string) => Effect.Effect<string, AgentFolderUnusable>
  }
>()("svc/runner/agent/AgentFolder") {
  static readonly layerAt = (path: string) =>
    Layer.effect(
      AgentFolder,
      Effect.gen(function* () {
        yield* privateFolder(path)
        const runs = join(path, "runs")
        yield* privateFolder(runs)
        const files = filesIn(path)
        const found = storedAgent(path)

        const keep = <A>(file: string, schema: Schema.Codec<A, string>, what: string, value: A) =>
          Schema.encodeEffect(schema)(value).pipe(
            Effect.orDie,
            Effect.flatMap((text) => replaceDurably(file, text, `write the agent's ${what}`)),
            Effect.mapError(unusable)
          )

        const keysLock = takeFileLock(join(path, "keys.lock")).pipe(
          Effect.repeat({ until: (isTaken) => isTaken, schedule: Schedule.spaced("20 millis") })
        )
        const locked = <A>(change: Effect.Effect<A, AgentFolderUnusable>) =>
          Effect.scoped(Effect.andThen(keysLock, change))

        const firstKeys = found.keys.pipe(
          Effect.flatMap(
            Option.match({
              onSome: Effect.succeed,
              onNone: () => Effect.tap(newKeys, (made) => keep(files.keys, KeysText, "keys", made))
            })
          )
        )
        const keys = Effect.flatMap(
          found.keys,
          Option.match({ onSome: Effect.succeed, onNone: () => locked(firstKeys) })
        )

        const removeNext = Effect.mapError(removeTree(files.nextKeys, "remove the agent's next keys"), unusable)

        /** Removes next keys that a process has already made the current keys, but did not remove before it exited. */
        const unfinished = Effect.gen(function* () {
          const next = yield* found.nextKeys
          if (Option.isNone(next) || next.value.public.sign !== (yield* firstKeys).public.sign) return next
          yield* removeNext
          return Option.none<StoredKeys>()
        })

        const nextKeys = Effect.flatMap(
          found.nextKeys,
          Option.match({ onSome: () => locked(unfinished), onNone: () => Effect.succeedNone })
        )

        const prepareKeys = Effect.flatMap(
          unfinished,
          Option.match({
            onSome: Effect.succeed,
            onNone: () => Effect.tap(newKeys, (made) => keep(files.nextKeys, KeysText, "next keys", made))
          })
        )

        /** Changes the current keys and removes the next keys, provided that the next keys are still `next`. */
        const settle = (next: StoredKeys, change: (present: StoredKeys) => StoredKeys) =>
          Effect.gen(function* () {
            const found = yield* unfinished
            if (Option.isNone(found) || found.value.public.sign !== next.public.sign) return
            yield* keep(files.keys, KeysText, "keys", change(yield* firstKeys))
            yield* removeNext
          })

        const replacedBy = ({ sign }: Signer, { replaced = [] }: StoredKeys) =>
          [{ sign }, ...replaced].slice(0, mostReplaced)

        const dateKeys = Effect.fnUntraced(function* (at: string) {
          const present = yield* firstKeys
          if (present.madeAt === undefined) yield* keep(files.keys, KeysText, "keys", { ...present, madeAt: at })
        })

        const runNames = fileOperation("list the Runs of the agent", () => readdir(runs)).pipe(
          Effect.mapError(unusable)
        )

        const forgetFormer = Effect.gen(function* () {
          const { former, ...present } = yield* firstKeys
          if (former !== undefined && (yield* runNames).length === 0) yield* keep(files.keys, KeysText, "keys", present)
        })

        return AgentFolder.of({
          path,
          identity: found.identity,
          keepIdentity: (identity) => keep(files.identity, IdentityText, "identity", identity),
          keys,
          dateKeys: (at) => locked(dateKeys(at)),
          nextKeys,
          prepareKeys: locked(prepareKeys),
          takeNextKeys: (next) =>
            locked(
              settle(next, (present) => ({
                ...next,
                former: [present.seal, ...(present.former ?? [])].slice(0, mostFormer),
                replaced: replacedBy(present, present)
              }))
            ),
          dropNextKeys: (next) =>
            locked(settle(next, (present) => ({ ...present, replaced: replacedBy(next, present) }))),
          forgetFormer: locked(forgetFormer),
          lock: takeFileLock(join(path, "agent.lock")).pipe(
            Effect.repeat({ until: (isTaken) => isTaken, schedule: Schedule.spaced("100 millis"), times: 10 })
          ),
          runs,
          runNames,
          subfolder: (name) => Effect.as(privateFolder(join(path, name)), join(path, name))
        })
      })
    )
}

const privateFolder = (path: string) =>
  fileOperation("create it", async () => {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await chmod(path, 0o700)
  }).pipe(Effect.mapError(unusable))
