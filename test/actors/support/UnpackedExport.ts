import { join } from "node:path"
import { Effect, FileSystem, Stream } from "effect"
import { CapsuleExports, type Exporting } from "../../../actors/commands/capsule-export/CapsuleExports.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { temporaryFolder } from "../../support/ControlPlane.ts"
import { TestPlane } from "../../support/TestPlane.ts"

/** Returns the context of the owner's session, for exports of a Capsule in their Workspace. */
export const exporting = Effect.fnUntraced(function* (capsuleId: CapsuleId, holder = "ses_owner") {
  const { context, workspaceId } = yield* TestPlane
  return { context, holder, workspaceId, capsuleId }
})

/** Requests an export with the correct Capsule name typed. */
export const granted = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { name } = yield* (yield* Capsules).read(capsuleId)
  return yield* (yield* CapsuleExports).grant(yield* exporting(capsuleId), { confirm: name })
})

/** Returns the part of a download link that the route passes to the service. */
export const linkOf = ({ link }: { readonly link: string }) => link.slice(link.lastIndexOf("/") + 1)

const text = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

const spawned = (command: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const child = Bun.spawn([...command], {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: cwd, TF_IN_AUTOMATION: "1", CHECKPOINT_DISABLE: "1", ...env },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [code, out, err] = await Promise.all([child.exited, text(child.stdout), text(child.stderr)])
    return { code, out, err }
  })

/** Downloads and unpacks an export, as a person would. `entries` contains the lines of `tar -tvzf`. */
export const received = Effect.fnUntraced(function* (by: Exporting) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryFolder
  const exports = yield* CapsuleExports
  const { name } = yield* (yield* Capsules).read(by.capsuleId)
  const answer = yield* exports.grant(by, { confirm: name })
  const archive = yield* exports.download(by, linkOf(answer))
  yield* Stream.run(archive.bytes, fs.sink(join(folder, archive.fileName)))
  const listed = yield* spawned(["tar", "-tvzf", archive.fileName], folder)
  const extracted = yield* spawned(["tar", "-xzf", archive.fileName], folder)
  if (extracted.code !== 0) return yield* Effect.die(new Error(extracted.err))
  const root = join(folder, archive.fileName.replace(".tar.gz", ""))
  const names = (yield* fs.readDirectory(root, { recursive: true })).toSorted()
  const found: Array<string> = []
  for (const name of names) if ((yield* fs.stat(join(root, name))).type === "File") found.push(name)
  return {
    answer,
    root,
    files: found,
    entries: listed.out.trim().split("\n"),
    read: (name: string) => fs.readFileString(join(root, name))
  }
})

export const unpacked = (capsuleId: CapsuleId) => Effect.flatMap(exporting(capsuleId), received)

/**
 * Runs `init` and `plan -detailed-exitcode` with the tool alone. Exit code 0 means no changes, 1 an error, and 2 changes.
 */
export const barePlan = Effect.fnUntraced(function* (
  folder: string,
  secrets: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {}
) {
  const given = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`TF_VAR_${name}`, value]))
  const tool = (...args: ReadonlyArray<string>) =>
    spawned(["terraform", ...args, "-input=false", "-no-color"], folder, { ...environment, ...given })
  const init = yield* tool("init", "-lockfile=readonly")
  if (init.code !== 0) return { code: 1, out: `${init.out}${init.err}` }
  const { code, err, out } = yield* tool("plan", "-detailed-exitcode")
  return { code, out: `${out}${err}` }
})
