import { createHash } from "node:crypto"
import { lstat, mkdir, readlink, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as Semaphore from "effect/Semaphore"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { fileOperation, readOptional, RunFileFailed } from "./RunFiles.ts"
import { runFolderPaths } from "./RunFolder.ts"
import type { RunJob } from "./RunJob.ts"

/** Folders for the links, outside of every data folder: the first that takes one. Nothing is lost with a link. */
const places = [...new Set(["/var/tmp", tmpdir()])]

/** In the run folder: the link that leads to it, for a service that starts after a crash. */
const noteOf = (runFolder: string) => join(runFolder, "stable-path")

/** The name of a Capsule's link. It reveals nothing about the Capsule, and is the same on every machine. */
const nameOf = (key: Redacted.Redacted) =>
  `svc-${createHash("sha256")
    .update(`stable path\0${Redacted.value(key)}`)
    .digest("hex")
    .slice(0, 24)}`

/** Whether a link of this service, or nothing at all, has the path. */
const isOurs = (path: string) =>
  fileOperation("look at the Capsule's path", async () => {
    const entry = await lstat(path).catch(() => undefined)
    return entry === undefined || (entry.isSymbolicLink() && entry.uid === (process.geteuid?.() ?? entry.uid))
  })

const place = (path: string, target: string) =>
  fileOperation("place the Capsule's path", async () => {
    const next = `${path}.${process.pid}`
    await rm(next, { force: true })
    await symlink(target, next)
    await rename(next, path)
  })

/** Removes the link, unless it leads to another Run by now. */
const removeLink = (path: string, target: string) =>
  fileOperation("remove the Capsule's path", async () => {
    const leadsTo = await readlink(path).catch(() => undefined)
    if (leadsTo === target) await rm(path, { force: true })
  })

/** Removes the link that a run folder's Run left when its service was killed. */
export const removeStablePath = Effect.fnUntraced(function* (runFolder: string) {
  const note = yield* readOptional(noteOf(runFolder), "read the note of the Capsule's path")
  if (note._tag === "None") return
  const path = new TextDecoder().decode(note.value)
  if (places.some((folder) => path.startsWith(join(folder, "svc-")))) {
    yield* removeLink(path, runFolderPaths(runFolder).sandbox)
  }
})

/**
 * The path at which a Capsule's module sees its files, equal in plan and apply, so that a plan with an absolute path in it can be
 * applied. Where the sandbox has its own file system, that is a constant; elsewhere a link with a random name leads to the folder
 * of the current Run. Programs find their working folder by `PWD`, and Runs that would share the link take turns.
 */
export class StablePaths extends Context.Service<
  StablePaths,
  {
    /** The path for the Run's sandbox folder, until the Scope closes. */
    readonly hold: (
      job: Pick<RunJob, "addressKey">,
      runFolder: string
    ) => Effect.Effect<string, RunFileFailed, Scope.Scope>
  }
>()("svc/execution/StablePaths") {
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

      const hold = Effect.fn("StablePaths.hold")(function* (job: Pick<RunJob, "addressKey">, runFolder: string) {
        const own = runFolderPaths(runFolder).sandbox
        const inside = sandbox.insideRoot(own)
        if (inside !== own || job.addressKey === undefined) return inside
        const name = nameOf(job.addressKey)
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
          const isPlaced = yield* Effect.acquireRelease(
            Effect.match(place(path, own), { onFailure: () => false, onSuccess: () => true }),
            (placed) => (placed ? Effect.ignore(removeLink(path, own)) : Effect.void)
          )
          if (isPlaced) return path
        }
        // Only a plan with an absolute path in it cannot be applied then.
        yield* Effect.logWarning(`Neither ${places.join(" nor ")} can be written to. Give the service one of them.`)
        return own
      })

      return StablePaths.of({ hold })
    })
  )
}
