import { createHash } from "node:crypto"
import { existsSync, lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { lstat, mkdir, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as Semaphore from "effect/Semaphore"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { fileOperation, readOptional, RunFileFailed } from "./RunFiles.ts"
import { runFolderPaths } from "./RunFolder.ts"
import type { RunJob } from "./RunJob.ts"

/** Candidate folders for the links, outside all data folders. The first usable folder wins. Losing a link loses no data. */
const places = [...new Set(["/var/tmp", tmpdir()])]

/**
 * File in the run folder that contains the path of the link, so that a server restarted after a crash can remove the link.
 */
const noteOf = (runFolder: string) => join(runFolder, "stable-path")

type PathJob = Pick<RunJob, "addressKey" | "speculative">

/**
 * Derives the name of a Capsule's link. The name reveals nothing about the Capsule and is the same on every machine. Speculative
 * plans use a separate link, so that the Capsule's other Runs never wait for them.
 */
const nameOf = (key: Redacted.Redacted, isSpeculative: boolean) =>
  `svc-${createHash("sha256")
    .update(`${isSpeculative ? "speculative" : "stable"} path\0${Redacted.value(key)}`)
    .digest("hex")
    .slice(0, 24)}`

/** Returns true if the path is free, or is a link that belongs to this server. */
const isOurs = (path: string) =>
  fileOperation("look at the Capsule's path", async () => {
    const entry = await lstat(path).catch(() => undefined)
    return entry === undefined || (entry.isSymbolicLink() && entry.uid === (process.geteuid?.() ?? entry.uid))
  })

/**
 * Returns true if another server uses the link, that is, if the link leads to an existing folder outside this server's Runs.
 */
const isElsewhere = (path: string, runs: string) => {
  const leadsTo = readlinkSync(path)
  return !leadsTo.startsWith(`${runs}/`) && existsSync(leadsTo)
}

/**
 * Creates the link. Returns `false` if that fails, or if another server with the same keys uses the link. The other server
 * may be a copy of this server, and its Runs must not reach this server's files. Synchronous, so that no other Run of this
 * server can interfere.
 */
const place = (path: string, target: string, runs: string) =>
  Effect.try({
    try: () => {
      const next = `${path}.${process.pid}`
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(target, path)
      else if (isElsewhere(path, runs)) return false
      else {
        rmSync(next, { force: true })
        symlinkSync(target, next)
        renameSync(next, path)
      }
      return readlinkSync(path) === target
    },
    catch: () => false
  }).pipe(Effect.orElseSucceed(() => false))

/** Removes the link, unless it already leads to another Run's folder. Synchronous, for the same reason as `place`. */
const removeLink = (path: string, target: string) =>
  fileOperation("remove the Capsule's path", async () => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (entry?.isSymbolicLink() === true && readlinkSync(path) === target) rmSync(path, { force: true })
  })

/** Removes the link of a Run whose server was killed. */
export const removeStablePath = Effect.fnUntraced(function* (runFolder: string) {
  const note = yield* readOptional(noteOf(runFolder), "read the note of the Capsule's path")
  if (note._tag === "None") return
  const path = new TextDecoder().decode(note.value)
  if (places.some((folder) => path.startsWith(join(folder, "svc-")))) {
    yield* removeLink(path, runFolderPaths(runFolder).sandbox)
  }
})

/**
 * Gives the files of a Capsule's module the same path in a plan and its apply, so that a plan that contains an absolute path
 * can be applied. If the sandbox has its own file system, the path is a constant. Otherwise, the path is a link with a
 * random name that leads to the folder of the current Run. Programs find their working folder in `PWD`, and Runs that would
 * share a link take turns.
 */
export class StablePaths extends Context.Service<
  StablePaths,
  {
    /** Reserves the path for the Run's sandbox folder until the scope closes. */
    readonly hold: (job: PathJob, runFolder: string) => Effect.Effect<string, RunFileFailed, Scope.Scope>
  }
>()("svc/runner/execution/StablePaths") {
  static readonly layer = Layer.effect(
    StablePaths,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const turns = new Map<string, { readonly turn: Semaphore.Semaphore; users: number }>()

      const takeTurn = (name: string) =>
        Effect.acquireRelease(
          Effect.suspend(() => {
            const entry = turns.get(name) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
            turns.set(name, entry)
            entry.users += 1
            return Effect.onInterrupt(Effect.as(Semaphore.take(entry.turn, 1), entry), () => leave(name, entry))
          }),
          (entry) => Effect.andThen(Semaphore.release(entry.turn, 1), leave(name, entry)),
          { interruptible: true }
        )
      const leave = (name: string, entry: { users: number }) =>
        Effect.sync(() => {
          entry.users -= 1
          if (entry.users === 0) turns.delete(name)
        })

      const hold = Effect.fn("StablePaths.hold")(function* (job: PathJob, runFolder: string) {
        const own = runFolderPaths(runFolder).sandbox
        const inside = sandbox.insideRoot(own)
        if (inside !== own || job.addressKey === undefined) return inside
        const name = nameOf(job.addressKey, job.speculative === true)
        yield* takeTurn(name)
        for (const folder of places) {
          const path = join(folder, name)
          if (!(yield* isOurs(path))) {
            return yield* new RunFileFailed({
              message: `The path ${path}, at which the module of this Capsule sees its files, is used by something else. Remove it, then try again.`
            })
          }
          yield* fileOperation("note the Capsule's path", async () => {
            await mkdir(runFolder, { recursive: true, mode: 0o700 })
            await writeFile(noteOf(runFolder), path, { mode: 0o600 })
          })
          const isPlaced = yield* Effect.acquireRelease(place(path, own, dirname(runFolder)), (placed) =>
            placed ? Effect.ignore(removeLink(path, own)) : Effect.void
          )
          if (isPlaced) return path
        }
        // Continue without the link: only plans that contain an absolute path will fail to apply.
        yield* Effect.logWarning(
          `The path ${name} in ${places.join(" or ")} cannot be made, or is used by another service with the same keys. Give this service one of these folders.`
        )
        return own
      })

      return StablePaths.of({ hold })
    })
  )
}
