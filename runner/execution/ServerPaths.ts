import { realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { posix } from "node:path"
import { Effect, type Schema } from "effect"
import type { RunDiagnostic } from "../../schema/records/Run.ts"
import { insideRoot } from "../sandbox/SandboxView.ts"
import { runFolderPaths, sandboxPaths } from "./RunFolder.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import type { RunControl } from "./RunPlace.ts"
import type { RunSink } from "./RunSink.ts"

/** A folder or file on this machine, and the text that replaces it. */
interface Place {
  readonly path: string
  readonly name: string
  /** Replacement for the folder when it is part of a file's path. Defaults to the folder's name. */
  readonly before?: string
}

/**
 * Replaces this machine's paths in text that is shown for a Run. Files in the repository appear relative to the module, as
 * in the tool's own messages; other locations get a name in angle brackets. Redact secrets first, because replacing a path
 * inside a secret would hide the secret from the redactor.
 */
export interface ServerPaths {
  readonly shown: (text: string) => string
  /**
   * Replaces paths in values of plans and Outputs, which must remain distinguishable: the Run's folder becomes the Capsule's own
   * path, and the folder of an earlier Run becomes a name.
   */
  readonly planned: (text: string) => string
  /** Adds a path that becomes known only during the Run. */
  readonly add: (path: string, name: string) => void
}

/** The controls of an execution, plus the paths to hide. */
export interface ConcealingControl extends RunControl {
  /** The path at which the module and its programs see the sandbox folder. */
  readonly insideRoot: string
  readonly serverPaths: ServerPaths
}

export interface ServerPathsRequest {
  readonly runFolder: string
  /** The path at which the module sees the Run's folder. */
  readonly insideRoot: string
  readonly modulePath: string
  readonly dataFolder: string | undefined
  readonly providerCache: string | undefined
  readonly mirror: string | undefined
}

/** Lists the module's folder, its parent folders up to the repository, and the Run's other folders, below a sandbox root. */
const sandboxPlaces = (root: string, modulePath: string): ReadonlyArray<Place> => {
  const source = posix.join(root, sandboxPaths.source)
  const segments = modulePath.split("/").filter((segment) => segment !== ".")
  const repository = [...segments.keys(), segments.length].map((depth): Place => {
    const before = segments
      .slice(depth)
      .map(() => "..")
      .join("/")
    const name = before === "" ? "<module>" : depth === 0 ? "<repository>" : before
    return { path: posix.join(source, ...segments.slice(0, depth)), name, before }
  })
  return [
    ...repository,
    { path: posix.join(root, sandboxPaths.home), name: "<home>" },
    { path: posix.join(root, sandboxPaths.temporary), name: "<tmp>" },
    { path: posix.join(root, sandboxPaths.credentials), name: "<credentials>" },
    { path: posix.join(root, sandboxPaths.settings), name: "<settings>" },
    { path: root, name: "<run>" }
  ]
}

const special = /[\\^$.*+?()[\]{}|/-]/g
const literal = (text: string) => text.replace(special, "\\$&")
// Matches the end of a folder's name, so that the start of a longer name does not match.
const boundary = "(?![\\w~@%+-]|\\.\\w)"
/** Returns true if the path may also occur at the end of another path or in a URL. */
const isCommon = (path: string) => path === "/tmp" || path === insideRoot || path.startsWith(`${insideRoot}/`)

const replacerOf = (places: ReadonlyArray<Place>): ((text: string) => string) => {
  // Try longer paths first, so that a folder is tried before its parents. If a path has two names, the first name is used.
  const named = new Map<string, Place>()
  for (const place of places) if (place.path.length > 1 && !named.has(place.path)) named.set(place.path, place)
  if (named.size === 0) return (text) => text
  const paths = [...named.keys()].toSorted((left, right) => right.length - left.length)
  const alternatives = paths.map((path) => `${isCommon(path) ? "(?<![\\w.~@%+-])" : ""}${literal(path)}`)
  const pattern = new RegExp(`(${alternatives.join("|")})(?:(\\/+)(?=[\\w.@~<[-])|${boundary})`, "g")
  return (text) =>
    text.includes("/")
      ? text.replace(pattern, (whole, path: string, into: string | undefined) => {
          const place = named.get(path)
          if (place === undefined) return whole
          if (into === undefined) return place.name
          const before = place.before ?? place.name
          return before === "" ? "" : `${before}/`
        })
      : text
}

/**
 * Replaces Run folders in states and Outputs from earlier releases, in which modules could see these folders at isolation
 * levels without mounts.
 */
const withoutEarlierRuns = (parents: ReadonlyArray<string>): ((text: string) => string) => {
  const folder = new RegExp(`(?:${parents.map(literal).join("|")})/[^/\\s"]+/(?:capsule|build)${boundary}`, "g")
  return (text) => text.replace(folder, "<earlier run>")
}

/** Returns every spelling of a path that a program may print: as configured, and with links resolved. */
const names = (path: string) =>
  Effect.tryPromise(() => realpath(path)).pipe(
    Effect.map((real) => (real === path ? [path] : [path, real])),
    Effect.orElseSucceed(() => [path])
  )

export const serverPaths = Effect.fn("ServerPaths.make")(function* (request: ServerPathsRequest) {
  const { dataFolder, mirror, modulePath, providerCache, runFolder } = request
  const own = runFolderPaths(runFolder).sandbox
  const shownRoot = request.insideRoot === own ? insideRoot : request.insideRoot
  const parents = yield* names(posix.dirname(runFolder))
  const folders = parents.map((parent) => runFolderPaths(posix.join(parent, posix.basename(runFolder))))
  const roots = folders.flatMap(({ build, sandbox }) => [sandbox, build])
  const fixed: ReadonlyArray<readonly [path: string | undefined, name: string]> = [
    [providerCache, "<provider cache>"],
    [mirror, "<provider mirror>"],
    [dataFolder, "<data folder>"],
    [tmpdir(), "<tmp>"],
    ["/tmp", "<tmp>"]
  ]
  const places: Array<Place> = [...roots, ...new Set([shownRoot, insideRoot])].flatMap((root) =>
    sandboxPlaces(root, modulePath)
  )
  for (const { root } of folders) places.push({ path: root, name: "<run>" })
  for (const [path, name] of fixed) {
    if (path !== undefined) for (const known of yield* names(path)) places.push({ path: known, name })
  }
  let shown = replacerOf(places)
  const ofRun = replacerOf(roots.map((path) => ({ path, name: shownRoot })))
  const withoutEarlier = withoutEarlierRuns(parents)
  const planned = (text: string) => (text.includes("/") ? withoutEarlier(ofRun(text)) : text)
  return {
    shown: (text: string) => shown(text),
    planned,
    add: (path: string, name: string) => {
      // Keep the paths of system programs, which are the same on every machine.
      if (path.startsWith("/usr/")) return
      places.push({ path, name })
      shown = replacerOf(places)
    }
  } satisfies ServerPaths
})

/**
 * Removes this machine's paths from log lines. Paths in events are replaced by `RunReport`, which has the length of each string.
 */
export const withoutServerPaths = (sink: RunSink, paths: ServerPaths): RunSink => ({
  ...sink,
  log: (phase, stream, text) => sink.log(phase, stream, paths.shown(text))
})

const isArray = (value: Schema.JsonArray | Schema.JsonObject): value is Schema.JsonArray => Array.isArray(value)

const withTexts = (value: Schema.Json, rewritten: (text: string) => string): Schema.Json => {
  if (typeof value === "string") return rewritten(value)
  if (typeof value !== "object" || value === null) return value
  if (isArray(value)) return value.map((element) => withTexts(element, rewritten))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [rewritten(key), withTexts(member, rewritten)])
  )
}

/** Applies `planned` to every string in a value of a plan. */
export const plannedValue = (paths: ServerPaths, value: Schema.Json): Schema.Json => withTexts(value, paths.planned)

const runFolder = /\/run_[a-z0-9]{16,64}-\d+\/(?:capsule|build)(?![\w-])/

/**
 * Returns true if a text contains the folder of a Run on any machine. Even at levels that hide the folder, programs can
 * discover its real location.
 */
export const holdsRunFolder = (text: string): boolean => runFolder.test(text)

/** Replaces Run folders in a value from an earlier release. */
export const storedValue = (runsFolder: string, value: Schema.Json): Schema.Json =>
  withTexts(value, withoutEarlierRuns([runsFolder]))

const shownDiagnostic = (paths: ServerPaths, diagnostic: RunDiagnostic): RunDiagnostic => {
  const { address, detail, path, summary } = diagnostic
  return {
    ...diagnostic,
    summary: paths.shown(summary),
    ...(detail === undefined ? {} : { detail: paths.shown(detail) }),
    ...(address === undefined ? {} : { address: paths.shown(address) }),
    ...(path === undefined ? {} : { path: paths.shown(path) })
  }
}

export const shownFailure = (paths: ServerPaths, failure: RunnerFailure): RunnerFailure =>
  runnerFailure(failure.reason, failure.phase, paths.shown(failure.message), {
    diagnostics: failure.diagnostics.map((diagnostic) => shownDiagnostic(paths, diagnostic)),
    sandboxKilled: failure.sandboxKilled
  })
