import { constants, type Dirent } from "node:fs"
import { access, readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"

/** Sockets that control the whole machine; a container may have received them from outside its network namespace. */
const wellKnown = [
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
  "/run/crio/crio.sock",
  "/run/dbus/system_bus_socket"
]

const readText = (file: string) => Effect.tryPromise(() => readFile(file, "utf8")).pipe(Effect.orElseSucceed(() => ""))

/** Paths of the sockets in this network namespace; a socket without a path has a name that begins with `@`, or no name. */
const listed = Effect.map(readText("/proc/net/unix"), (table) =>
  table.split("\n").flatMap((line) => {
    const at = line.indexOf(" /")
    return at === -1 ? [] : [line.slice(at + 1)]
  })
)

const isSocket = (entry: Dirent) => entry.isSocket()

const ofUser = (folder: string) =>
  Effect.tryPromise(() => readdir(folder, { withFileTypes: true, recursive: true })).pipe(
    Effect.map((entries) => entries.filter(isSocket).map((entry) => join(entry.parentPath, entry.name))),
    Effect.orElseSucceed(() => [])
  )

/** True if this user may connect, which requires write permission on the socket and traversal of its parent folders. */
const isReachable = (path: string) =>
  Effect.tryPromise(async () => {
    await access(path, constants.W_OK)
    return (await stat(path)).isSocket()
  }).pipe(Effect.orElseSucceed(() => false))

/**
 * Sockets with a path that this user's programs may connect to. Landlock governs them only from version 9 on, and a process
 * behind such a socket may perform actions for the module that the module itself must not perform. Sockets in `guarded` require
 * more than a connection.
 */
export const reachablePathSockets = Effect.fnUntraced(function* (guarded: string | undefined) {
  const userId = process.getuid?.() ?? 0
  const agent = process.env["SSH_AUTH_SOCK"]
  const candidates = new Set([
    ...(yield* listed),
    ...wellKnown,
    ...(yield* ofUser(`/run/user/${userId}`)),
    ...(agent === undefined ? [] : [agent])
  ])
  const isGuarded = (path: string) => guarded !== undefined && path.startsWith(`${guarded}/`)
  return yield* Effect.filter(
    [...candidates].filter((path) => !isGuarded(path)),
    isReachable
  )
})
